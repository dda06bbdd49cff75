"""What one poll of the manager works on, and what it will write and request."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from oslo_log import log as logging
from sqlalchemy import inspect
from sqlalchemy.orm.attributes import instance_state

from nova_twotier.cloud.servers import Server
from nova_twotier.db.models import Action, Event, Job, JobServer, Place
from nova_twotier.db.states import OVER, ActionState
from nova_twotier.db.store import busy_jobs
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Context, Environment
from nova_twotier.manager.operations.operation import CloudRequest, Note
from nova_twotier.manager.planning import Record

LOG = logging.getLogger(__name__)


@dataclass
class Round:
    """One poll's work.

    :param jobs: that are not over.
    :param plain_waiting: those of them that only wait for slots. There may be ten thousand, so
        polls read no more of them than needed.
    :param behind_limit: those that only wait for other tasks of their arrays; just as many.
    :param active: the others.
    :param opened: actions that are not over, as they were decided; ends come to them.
    :param stand_alone: servers that are no job's, and may have to make way for one, by id.
    :param victims: those of them that have to, as they were when that was decided.
    :param decided: to be recorded; they begin at the next poll.
    :param places: those that changed.
    :param servers: of jobs that have started.
    :param without_servers: numbers of the jobs that have none any more.
    :param messages: requests that belong to no action.
    :param notes: what has happened to jobs, as in the events.
    """

    seen: Observation
    env: Environment
    jobs: dict[int, Job]
    plain_waiting: dict[int, Job]
    behind_limit: dict[int, Job]
    active: list[Job]
    opened: list[Action]
    mode: str
    stand_alone: dict[str, Server]
    victims: Sequence[Server] = ()
    decided: list[Record] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    servers: list[JobServer] = field(default_factory=list)
    without_servers: list[int] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    requests: list[tuple[Action, list[CloudRequest]]] = field(default_factory=list)
    messages: list[CloudRequest] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    changed: bool = False

    @property
    def under_way(self) -> list[Action]:
        """The actions that are not over now."""
        return [action for action in self.opened if action.state == ActionState.EXPECTED]

    @property
    def busy(self) -> set[int]:
        """Numbers of the jobs that the actions under way are about."""
        return busy_jobs(self.under_way)

    def note(self, *notes: Note) -> None:
        self.notes.extend(notes)
        for note in notes:
            job = self.jobs.get(note.job)
            at = self.env.now
            if job:
                event = job.happening(at, note.kind, note.reason)
            else:
                event = Event(at=at, job=note.job, kind=note.kind, reason=note.reason)
            self.events.append(event)

    def log(self) -> None:
        """Log what was noted; once it is recorded, as another manager may do it all instead."""
        for note in self.notes:
            job = self.jobs.get(note.job)
            reason = f": {note.reason}" if note.reason else ""
            LOG.info("Job %s %s%s", job.label if job else note.job, note.kind, reason)

    def hosts(self) -> Set[str]:
        """Those that servers of the jobs are on, whatever pool they are in."""

        def work_out() -> set[str]:
            gangs = (self.seen.gang(job) for job in self.active)
            return {server.host for gang in gangs for server in gang if server.host}

        return self.seen.remember("hosts", self.active, work_out)

    def context(self, action: Action) -> Context:
        return Context(action, self.jobs, self.seen, self.env)

    def begun_anew(self) -> list[int]:
        """Numbers of the jobs that this poll has begun anew; call it before they are written."""
        return [
            number
            for number, job in self.jobs.items()
            if instance_state(job).modified
            and job.state not in OVER
            and inspect(job).attrs.discarded_at.history.has_changes()
        ]

    def to_write(self) -> list:
        known = [*self.jobs.values(), *self.opened]
        changed = [row for row in known if (state := instance_state(row)).modified or not state.key]
        return [*changed, *self.places, *self.servers, *self.events]
