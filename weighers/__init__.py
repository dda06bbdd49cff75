"""Nova scheduler weighers of nova-twotier, installed as `nova_twotier.weighers`."""


def all_weighers():
    """Every weigher class, for `[filter_scheduler]weight_classes`."""
    from nova_twotier.weighers.adaba import AdaBaWeigher
    from nova_twotier.weighers.complement import ComplementWeigher

    return [ComplementWeigher, AdaBaWeigher]
