"""Conservative Consolidation-based First-Come First-Serve (JSS 2015, section 3)."""

from nova_twotier.core.policies.tentative import Tentative


class Ccfcfs(Tentative):
    name = "ccfcfs"
    summary = "Trials in the background only; the foreground is strictly FCFS."
    aggressive = False
