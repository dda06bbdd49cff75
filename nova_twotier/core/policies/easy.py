"""EASY backfilling (Lifka 1995; Mu'alem and Feitelson 2001)."""

from nova_twotier.core.policies.backfilling import Backfilling


class Easy(Backfilling):
    name = "easy"
    summary = "FCFS, and later jobs that do not delay the head of the queue by their estimates."
    depth = 1
    embeds = False  # its reservation counts slots
