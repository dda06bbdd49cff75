"""AdaBa's weight of a host (Symmetry 2018, equation 7)."""


def adaba_weight(residual: int, slots: int, mbps: float, max_mbps: float) -> float:
    """How well a host suits a request: the higher, the better.

    Greatest where `residual` is `slots * mbps / max_mbps`: requests of little bandwidth fill up
    what is left of used hosts, those of much bandwidth get empty ones.

    :param residual: free slots of the host, 0..slots.
    :param slots: slots of the host, L.
    :param mbps: bandwidth of each VM, B; more than `max_mbps` counts as that.
    :param max_mbps: the largest bandwidth that is ever asked for, Bmax; above 0.
    :returns: -slots**2 / 2 .. slots**2 / 2
    """
    relative = min(mbps / max_mbps, 1.0)
    return (slots * relative - 0.5 * residual) * residual
