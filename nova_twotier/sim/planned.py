"""What a batch system shows (`squeue --start`): a plan of reservations by requested times."""

from dataclasses import replace

from nova_twotier.core.policies.conservative import Conservative
from nova_twotier.core.prediction.present import Forecast, Present
from nova_twotier.core.prediction.requested import Requested


class Planned(Requested):
    """Gives each waiting job a reservation by arrival, the earliest that delays no other one.

    A batch system knows one tier: the plan is of the foreground, whatever the policy does, and jobs
    in the background go on there. It stands beside the estimators of `core.prediction`, which run
    the real policy forward.
    """

    name = "planned"
    summary = "Reservations by arrival, with the times that jobs asked for (squeue --start)."

    def predict(self, present: Present, target: int | None = None) -> dict[int, Forecast]:
        return super().predict(replace(present, policy=Conservative()), target)
