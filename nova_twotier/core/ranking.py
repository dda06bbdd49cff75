"""Which slots a process should get: high CPU utilisation goes where the other tier's load is low.

TPDS 2013, section 4.2 ("the process matches the background VM that is likely to incur high node
utilization to the foreground VM that is likely to incur low node utilization"), for both tiers.
The Nova weigher and the simulated cluster both rank by this function, so both place alike.
"""

#: A slot whose foreground VM uses at least this much takes no background VM (TPDS 2013, section 3).
THRESHOLD = 0.96


def is_hot(cpu: float, threshold: float = THRESHOLD) -> bool:
    """Whether a foreground process of this CPU utilisation closes its slot."""
    return cpu >= threshold


def next_slot_load(slots: int, own: int, other: int, other_cpu: float) -> float:
    """The load of the other tier on the slot that a host's next process of this tier gets.

    A host arranges its VMs so that idle slots are used first; only then does a new process share a
    slot, with the average load of those that are there. Needs only what Placement knows of a host.

    :param slots: slots of the host that take a process of this tier (L, less the closed ones).
    :param own: slots that already have a process of this tier.
    :param other: slots of those that have a process of the other tier.
    :param other_cpu: the sum of their CPU utilisations.
    :returns: load, 0..1 (above 1 if several background VMs share a slot).
    """
    if own + other < slots or not other:
        return 0.0
    # Sums that differ only by the order in which they came about are equal.
    return round(other_cpu / other, 9)
