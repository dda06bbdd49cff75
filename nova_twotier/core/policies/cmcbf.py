"""Conservative Migration and Consolidation supported BackFilling (TPDS 2013, section 4.2)."""

from nova_twotier.core.policies.consolidation import Consolidation


class Cmcbf(Consolidation):
    name = "cmcbf"
    summary = "Any job may take foreground slots from later arrivals when that lets it start."
    only_head = False
