"""Takes each open action of a pool one step further at a poll, and opens the ends of jobs."""

from collections.abc import Mapping

from oslo_log import log as logging

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.hosts import Hosts
from nova_twotier.core.reasons import Reason, failures, waits
from nova_twotier.db.models import Action
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.manager import ongoing
from nova_twotier.manager.endings import end_by, endings
from nova_twotier.manager.events import ALL, Events
from nova_twotier.manager.operations import OPERATIONS
from nova_twotier.manager.operations.operation import Outcome
from nova_twotier.manager.requests import Requests
from nova_twotier.manager.round import Round
from nova_twotier.manager.shortages import Shortages
from nova_twotier.manager.shutdowns import Shutdowns
from nova_twotier.manager.turns import Turns

LOG = logging.getLogger(__name__)

#: Jobs that never began, and hold nothing, whose end begins at one poll: ten thousand may be
#: cancelled at once, and the others do not wait for all of that.
MOST_ENDS = 1000


class OpenActions:
    """Advances the open actions; their requests to Nova are sent once the round is recorded.

    :param events: what has happened since the policy last decided; steps that free slots or fail
        are added.
    :param requests: sends what the actions ask of Nova.
    :param shutdowns: finds out why servers are off.
    :param shortages: the quotas of which jobs were refused.
    """

    def __init__(
        self,
        pool: str,
        hosts: Hosts,
        events: Events,
        requests: Requests,
        shutdowns: Shutdowns,
        shortages: Shortages,
    ):
        self._pool = pool
        self._hosts = hosts
        self._events = events
        self._requests = requests
        self._shutdowns = shutdowns
        self._shortages = shortages
        #: Answers that no recorded round has taken yet, by the number of the action.
        self._outcomes: dict[int, list[Outcome]] = {}

    def collect_answers(self, now: float) -> None:
        """Take over the answers that have arrived since the last poll."""
        for number, outcomes in self._requests.collect(now).items():
            self._outcomes.setdefault(number, []).extend(outcomes)

    def take_answers(self, work: Round) -> None:
        """Tell each open action what its requests were answered."""
        for action in work.opened:
            for outcome in self._outcomes.get(action.id, ()):
                OPERATIONS[action.kind].answered(work.context(action), outcome)

    def drop_unwanted(self, work: Round) -> None:
        """Drop start actions that have not begun and that are no longer wanted or allowed.

        The owner has held the job, asked to end it or changed its class, so that it may not take
        the tier any more; or another job has just been refused the quota that it needs.
        """
        now = work.env.now
        for action in work.opened:
            if action.kind == ActionKind.START and action.begun_at is None:
                job = work.jobs[action.number]
                if asked := job.requested_action:
                    ongoing.drop(action, failures.REQUESTED(action=asked), now)
                elif job.held:
                    ongoing.drop(action, waits.HELD(), now)
                elif refused := self._shortages.of(job, now):
                    ongoing.drop(action, refused.reason, now)
                elif (
                    job.not_before > now or action.planned(StartPlan).tier not in job.allowed_tiers
                ):
                    ongoing.drop(action, job.reason, now)

    def open_ends(self, work: Round, hopeless: Mapping[int, Reason]) -> None:
        """Begin to end jobs that are over or whose gang is broken, and hopeless ones.

        :param hopeless: why jobs will never be in the queue, by number.
        """
        busy = work.busy
        without_action = [
            job
            for job in work.active
            if job.number not in busy and job.state in (JobState.QUEUED, JobState.RUNNING)
        ]
        running = (job for job in without_action if job.state == JobState.RUNNING)
        off = self._shutdowns.poll(running, work.seen, self._hosts.down)
        left, attempts = MOST_ENDS, work.env.attempts
        for job in without_action:
            if job.never_begun and not left:
                continue
            if action := endings(job, work.seen, attempts, off, hopeless):
                left -= job.never_begun
                self._open(work, action)

    def advance(self, work: Round) -> None:
        """Take the next step of each action whose turn it is."""
        turns = Turns(work.opened, work.jobs, work.seen, work.env.threshold, work.env.now)
        for action in turns.due():
            # Closed ones were dropped, because an action before them has just failed.
            if action.state == ActionState.EXPECTED:
                self._advance(work, action)
        if turns.dropped:
            self._events.happened(ALL)

    def recorded(self, work: Round) -> None:
        """Send the requests of a round that is recorded, and forget the answers that it used."""
        self._outcomes.clear()
        for action in work.opened:
            if action.state != ActionState.EXPECTED:
                self._requests.forget(action.id)
        for action, requests in work.requests:
            self._requests.make(action.id, requests)

    def _open(self, work: Round, action: Action) -> None:
        action.pool, action.state = self._pool, ActionState.EXPECTED
        work.opened.append(action)
        work.changed = True

    def _advance(self, work: Round, action: Action) -> None:
        """Take one step; none while its requests, other than questions, are under way."""
        env, jobs = work.env, work.jobs
        if self._requests.waiting(action.id, env.now):
            return
        operation, context = OPERATIONS[action.kind], work.context(action)
        if action.begun_at is None:
            action.begun_at = env.now
            operation.begin(context)
        try:
            step = operation.advance(context)
        except (CloudError, PlacementError) as error:
            LOG.warning("Action %s of job %s is repeated: %s", action.kind, action.job, error)
            return
        if step.state is None:
            if step.freed:
                self._events.happened(self._events.caused(action, jobs))
            if step.requests:
                context.ask(request.key for request in step.requests)
                work.requests.append((action, step.requests))
            return
        work.changed = True
        action.state, action.closed_at = step.state, env.now
        if step.state is ActionState.DONE:
            self._events.happened(self._events.caused(action, jobs))
            work.note(*operation.close(context))
        else:
            if step.end is None:
                work.note(*operation.undo(context))
            else:
                end = end_by(step.end, action.number, env.now)
                end.reason = action.reason
                self._open(work, end)
            if not step.alone:
                ongoing.abandon(work.opened, action, env.now)
            self._events.happened(ALL)
