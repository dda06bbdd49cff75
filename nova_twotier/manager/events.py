"""What has happened since the policy last decided, so that it may decide otherwise now."""

import math
from collections.abc import Iterable, Mapping, Sequence, Set

from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import is_hot
from nova_twotier.core.snapshot import Event
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import EndPlan, EvictPlan, MigratePlan
from nova_twotier.db.states import OVER, ActionKind
from nova_twotier.ledger.claims import Claim
from nova_twotier.manager import ongoing
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs

ALL = Event.ARRIVAL | Event.BACKGROUND | Event.FOREGROUND
_FREED = {Tier.FG: Event.FOREGROUND, Tier.BG: Event.BACKGROUND}


class Events:
    """
    :param options: the options of group `[manager]`.
    :ivar pending: what has happened; after a restart, anything may have.
    :ivar decided_at: when the policy last decided.
    """

    def __init__(self, options):
        self._options = options
        self.pending = ALL
        self.decided_at = -math.inf
        #: When something happens that no change of servers or jobs shows.
        self._due_at = math.inf
        self._known: set[int] = set()
        self._held: Set[int] = frozenset()
        #: Estimate and walltime of each running job, by number.
        self._terms: dict[int, tuple[float | None, float | None]] = {}
        self._late: Set[int] = frozenset()
        self._unmanaged: Set[Claim] = frozenset()
        self._preemptible: Set[str] = frozenset()

    def happened(self, event: Event) -> None:
        self.pending |= event

    def decided(self, jobs: Iterable[int], now: float, due_at: float) -> None:
        """The policy has decided about all that happened.

        :param jobs: numbers of all jobs that it could know of; one that comes later, also through
            its gates, arrives.
        :param due_at: when it has to decide again, whatever happens.
        """
        self._known, self.decided_at, self._due_at = set(jobs), now, due_at
        self.pending = Event(0)

    def caused(self, action: Action, jobs: Jobs) -> Event:
        """The events of a finished action that the policy has not decided itself."""
        plan = action.plan
        if isinstance(plan, EndPlan):
            tier = jobs[action.number].tier
            # Who begins anew is back in the queue.
            return _FREED[Tier(tier)] if tier and plan.then in OVER else ALL
        if isinstance(plan, EvictPlan) and (plan.repairs or plan.unmoved):
            return ALL
        if action.progress.escalated_at is not None:
            # It was to be saved or moved, and begins anew.
            return ALL
        # It can be moved and evicted from now on, and Nova may have placed it elsewhere than the
        # policy thought.
        if action.kind in (ActionKind.START, ActionKind.POWER_ON):
            return ALL
        # Others were decided upon meanwhile, without having seen what it has left over.
        return ALL if self.decided_at > action.created_at else Event(0)

    def notice_jobs(self, waiting: Iterable[int], held: Set[int], now: float) -> None:
        """Note jobs that arrived, were held or were released, and whatever is due.

        :param waiting: numbers of the jobs that policies are shown.
        """
        if not self._known.issuperset(waiting):
            self.happened(Event.ARRIVAL)
        if self._held != held:
            # Those behind a held job move up; a released one is back before later arrivals.
            self.happened(ALL)
            self._held = held
        if now >= self._due_at:
            self.happened(ALL)

    def notice_terms(self, running: Iterable[Job]) -> None:
        """Note running jobs that are expected to end at another time than before."""
        terms = {job.number: (job.estimate, job.walltime) for job in running}
        before = self._terms
        if any(before.get(number, now) != now for number, now in terms.items()):
            self.happened(ALL)
        self._terms = terms

    def arrived(self, waiting: Mapping[int, Job]) -> list[Job]:
        """The waiting jobs that the policy has not decided about yet."""
        return [waiting[number] for number in waiting.keys() - self._known]

    def notice_late(self, starting: Iterable[Action], now: float) -> None:
        """Note starts that no longer reserve idle slots."""
        late = {a.number for a in starting if a.begun_at is None and ongoing.is_late(a, now)}
        if not self._late >= late:
            self.happened(ALL)
        self._late = late

    def notice_unmanaged(
        self, jobs: Iterable[Job], opened: Sequence[Action], seen: Observation
    ) -> None:
        """Note slots that unmanaged servers have released or closed."""
        leaving = set().union(*(action.progress.servers for action in opened))
        unmanaged = {claim for claim in seen.unmanaged(jobs) if claim.vm not in leaving}
        if any(isinstance(action.plan, MigratePlan) for action in opened):
            # The old place of a migrating server counts as unmanaged, and is released in a moment.
            unmanaged &= self._unmanaged
        for claim in self._unmanaged - unmanaged:
            self.happened(_FREED[claim.tier])
        if any(self._closes(claim) for claim in unmanaged - self._unmanaged):
            self.happened(Event.FOREGROUND)
        self._unmanaged = unmanaged

    def notice_preemptible(self, servers: Set[str]) -> None:
        """Note stand-alone servers that jobs may preempt from now on."""
        if not self._preemptible >= servers:
            self.happened(Event.BACKGROUND)
        self._preemptible = servers

    def _closes(self, claim: Claim) -> bool:
        return claim.tier is Tier.FG and is_hot(claim.utilisation, self._options.threshold)
