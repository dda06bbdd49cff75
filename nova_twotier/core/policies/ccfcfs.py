"""Conservative Consolidation-based First-Come First-Serve (JSS 2015, section 3)."""

from nova_twotier.core.policies.tentative import Tentative


class Ccfcfs(Tentative):
    name = "ccfcfs"
    summary = "FCFS in the foreground; later jobs run on trial in the background and may be killed."
    aggressive = False
