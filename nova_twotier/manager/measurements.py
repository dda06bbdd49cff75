"""Records the CPU utilisation of jobs that node agents have measured."""

from collections.abc import Mapping, Sequence

from nova_twotier.core.reasons import changes
from nova_twotier.db.models import Job
from nova_twotier.manager.operations.operation import Note

#: A job's event names so many processes.
NAMED = 5


def record(job: Job, found: Mapping[int, float], at: float) -> Note:
    """Record new measurements of a job; returns the event about them.

    :param found: CPU utilisation 0..1 by process, as `Observation.points` has it.
    :param at: the time, in seconds since the epoch.
    """
    measured = job.measured or [None] * job.size
    declared: Sequence[float | None] = job.learned or job.cpu or [None] * job.size
    shown = []
    for process, share in sorted(found.items()):
        before = declared[process] if measured[process] is None else measured[process]
        known = "unknown" if before is None else f"{before:.0%}"
        shown.append(f"rank {process}: {share:.0%} ({known} before)")
    job.measure(found, at)
    rest = [f"{len(shown) - NAMED} more"] if len(shown) > NAMED else []
    processes = ", ".join([*shown[:NAMED], *rest])
    return Note(job.number, "measured", changes.MEASURED(processes=processes))
