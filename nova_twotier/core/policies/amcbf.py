"""Aggressive Migration and Consolidation supported BackFilling (TPDS 2013, section 4.2)."""

from nova_twotier.core.policies.consolidation import Consolidation


class Amcbf(Consolidation):
    name = "amcbf"
    summary = "As CMCBF, but only the earliest job that is not in the foreground may evict."
    only_head = True
