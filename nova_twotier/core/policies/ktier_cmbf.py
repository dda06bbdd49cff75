"""CMCBF with several background VMs a slot (the k-tier paper, section 3.3)."""

from nova_twotier.core.policies.cmcbf import Cmcbf


class KtierCmbf(Cmcbf):
    name = "ktier-cmbf"
    summary = "CMCBF with one foreground and K-1 background VMs a slot, K given by the hosts."
    tiers = 3
