"""Aggressive Consolidation-based First-Come First-Serve (JSS 2015, section 3)."""

from nova_twotier.core.policies.tentative import Tentative


class Acfcfs(Tentative):
    name = "acfcfs"
    summary = (
        "As CCFCFS, but later jobs run on trial in the foreground, too; earlier ones kill them."
    )
    aggressive = True
