"""Conservative backfilling (Mu'alem and Feitelson 2001)."""

import math

from nova_twotier.core.policies.backfilling import Backfilling


class Conservative(Backfilling):
    """Reservations are made anew, by arrival, at each decision: nothing of them has to be kept."""

    name = "conservative"
    summary = "FCFS, and later jobs that do not delay any earlier one by their estimates."
    depth = math.inf
    embeds = False  # its reservations count slots
