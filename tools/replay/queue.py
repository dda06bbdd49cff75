"""The queue as the replay needs it: submits jobs, and reads their outcome."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select

from nova_twotier.db.models import Action, Job
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState
from nova_twotier.db.store import Store
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.workload import ReplayJob


@dataclass(frozen=True, slots=True)
class Look:
    """The records of the roster's jobs, by number, at one instant."""

    jobs: dict[int, Job]

    @property
    def running(self) -> set[int]:
        """Numbers of the jobs that count as running."""
        return {job.number for job in self.jobs.values() if job.state == JobState.RUNNING}

    @property
    def waiting(self) -> list[Job]:
        return [job for job in self.jobs.values() if job.state == JobState.QUEUED]

    @property
    def over(self) -> list[Job]:
        return [job for job in self.jobs.values() if job.state in OVER]

    @property
    def rejected(self) -> list[Job]:
        return [job for job in self.jobs.values() if job.state in OVER and never_finished(job)]

    @property
    def untouched(self) -> bool:
        """Whether no manager has looked at any of the jobs."""
        return all(job.state == JobState.QUEUED and not job.reason for job in self.jobs.values())


def never_finished(job: Job) -> bool:
    """Refused by the manager, or cancelled."""
    return job.state in (JobState.FAILED, JobState.CANCELLED)


class Queue:
    """Fills the roster as jobs are submitted.

    `options`: what every job asks for besides what the trace says, as `Store.submit` takes it.

    :param of: what one job asks for besides.
    """

    def __init__(
        self,
        store: Store,
        roster: Roster,
        of: Callable[[ReplayJob], dict] = lambda _job: {},
        **options,
    ):
        self._store = store
        self._roster = roster
        self._of = of
        self._options = options

    def submit(self, job: ReplayJob) -> Entry:
        row = self._store.submit(
            job.size,
            list(job.cpu),
            job.name,
            job.estimate,
            bandwidth=job.mbps,
            qos=job.qos,
            **(self._options | self._of(job)),
        )
        entry = Entry(row.number, row.uuid, job)
        self._roster.add(entry)
        return entry

    def poll(self) -> Look:
        return Look({job.number: job for job in self._store.jobs() if job.number in self._roster})

    def unmanaged(self) -> int:
        """Jobs of others that are not over."""
        return sum(
            job.state not in OVER and job.number not in self._roster for job in self._store.jobs()
        )

    def finishes(self) -> Counter:
        """How often each job was recorded as finished."""
        return Counter(event.job for event in self._store.events() if event.kind == "finished")

    def start_times(self) -> dict[int, float]:
        """Wall seconds that Nova took to start each job for the first time, by number: from the
        decision until all its servers ran."""
        query = select(Action).where(
            Action.kind == ActionKind.START, Action.state == ActionState.DONE
        )
        with self._store.reading() as session:
            starts = session.scalars(query.order_by(Action.id.desc())).all()
        return {start.job: start.closed_at - start.created_at for start in starts}
