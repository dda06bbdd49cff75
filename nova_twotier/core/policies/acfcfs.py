"""Aggressive Consolidation-based First-Come First-Serve (JSS 2015, section 3)."""

from nova_twotier.core.policies.tentative import Tentative


class Acfcfs(Tentative):
    name = "acfcfs"
    summary = "Trials in both tiers; those in the foreground may be evicted by earlier arrivals."
    aggressive = True
