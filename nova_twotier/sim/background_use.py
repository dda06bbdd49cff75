"""How much of a run's work went through the background."""

from dataclasses import dataclass

import pandas

from nova_twotier.core.actions import BG
from nova_twotier.sim import metrics, simulation, sweep

STARTED = "background_starts_per_job"
HELD = "background_slot_seconds_per_work"


def summarise(jobs: pandas.DataFrame) -> dict[str, float]:
    """The share of the jobs that started in the background, and the slot-seconds that jobs held
    there for each slot-second of work (size * run time) of all jobs.

    A background job progresses more slowly than in the foreground, and not at all while it is on
    its way there: less work is done there than slots are held.

    :param jobs: as a `simulation.Result` has them.
    """
    work = (jobs["size"] * jobs["runtime"]).sum()
    held = (jobs["size"] * jobs["background_time"]).sum()
    return {
        STARTED: float((jobs["tier"] == BG).mean()),
        HELD: float(held / work) if work > 0 else float("nan"),
    }


@dataclass(frozen=True)
class BackgroundPoint(sweep.Point):
    """A run of a sweep whose row also tells how much work went through the background."""

    def row(self) -> dict:
        result = simulation.simulate(sweep.workload_of(self), self.scenario)
        return metrics.summarise(result) | self.parameters() | summarise(result.jobs)
