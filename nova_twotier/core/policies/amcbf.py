"""Aggressive Migration and Consolidation supported BackFilling (TPDS 2013, section 4.2)."""

from nova_twotier.core.policies.consolidation import Consolidation


class Amcbf(Consolidation):
    """As CMCBF, but only the earliest job that is not in the foreground may evict."""

    name = "amcbf"
    only_head = True
