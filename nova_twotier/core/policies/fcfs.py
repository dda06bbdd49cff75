"""First come, first served."""

from nova_twotier.core.policies.backfilling import Backfilling


class Fcfs(Backfilling):
    name = "fcfs"
    summary = "The head of the queue starts when it fits; nothing passes it."
