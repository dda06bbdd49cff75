"""The input of a scheduling pass: a pool's open jobs, their actions and the observed cloud."""

from collections.abc import Collection, Container, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from nova_twotier.cloud.servers import Server
from nova_twotier.db.models import Action, Job
from nova_twotier.db.states import ActionKind
from nova_twotier.manager import ongoing
from nova_twotier.manager.departures import Departure
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs


@dataclass(frozen=True)
class Situation:
    """A pool at a poll, when all that was due has been done.

    :param jobs: the open jobs, by number.
    :param opened: their open actions.
    :param plain_waiting: jobs for which `Job.plain_waiting` holds and that have no open action.
    :param preemptible: stand-alone servers that may make way for jobs, by id.
    :param begun: ids of those that already do.
    :param prioritised: numbers of jobs with a priority other than 0, or another's place.
    :param vacated: names of the drained hosts whose jobs are to be moved to others.
    :param short_of_quota: until when jobs in the queue back off, see `Shortages`.
    :param behind_limit: numbers of jobs for which `Job.behind_array_limit` holds and that have no
        open action.
    """

    jobs: Jobs
    opened: Sequence[Action]
    seen: Observation
    now: float
    plain_waiting: Mapping[int, Job] = field(default_factory=dict)
    preemptible: Mapping[str, Server] = field(default_factory=dict)
    begun: Container[str] = ()
    prioritised: Set[int] = frozenset()
    vacated: Collection[str] = ()
    short_of_quota: Mapping[int, float] = field(default_factory=dict)
    behind_limit: Set[int] = frozenset()

    @cached_property
    def starting(self) -> dict[int, Action]:
        """The open start actions, by job number."""
        return {each.number: each for each in self.opened if each.kind == ActionKind.START}

    @cached_property
    def placing(self) -> dict[int, Action]:
        """The open start actions that are not being undone, by job number.

        One that is being undone takes no more slots than it has.
        """
        return {n: each for n, each in self.starting.items() if not each.progress.undoing}

    @cached_property
    def ending(self) -> list[Job]:
        """The jobs that are over and give up their slots."""
        return [self.jobs[each.number] for each in self.opened if each.kind == ActionKind.END]

    @cached_property
    def released(self) -> set[int]:
        """The numbers of the jobs that are over and whose slots are all free."""
        return {
            job.number
            for job in self.ending
            if not any(self.seen.claims_any(server.id) for server in self.seen.gang(job))
        }

    @cached_property
    def departures(self) -> list[Departure]:
        return ongoing.departures(self.opened, self.jobs)

    @cached_property
    def moving(self) -> set[int]:
        """The numbers of the jobs that leave their slots, or move to others."""
        return {departure.job.number for departure in self.departures}

    @cached_property
    def passing(self) -> set[int]:
        """The numbers of the jobs with a start or an end under way.

        Late actions are not waited for: the owner of a job can draw them out at will.
        """
        return {
            action.number
            for action in self.opened
            if action.kind in (ActionKind.START, ActionKind.END)
            and not ongoing.is_late(action, self.now)
        }
