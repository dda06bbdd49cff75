"""The queue of waiting jobs that is passed to the policy; each poll updates it."""

from collections.abc import Iterable, Mapping
from itertools import compress
from operator import is_not

from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.queue import Queue
from nova_twotier.db.models import Job
from nova_twotier.manager import priorities
from nova_twotier.manager.candidates import Candidates, too_large
from nova_twotier.manager.events import ALL, Events
from nova_twotier.manager.fair_share import NONE
from nova_twotier.manager.limits import Gate, held_tiers
from nova_twotier.manager.situation import Situation


class ShownQueue:
    """The waiting jobs as the policy sees them; kept, since few of ten thousand jobs change.

    :param options: the options of group `[manager]`.
    :param tiers: of the policy.
    :param events: what has happened since the policy last decided; `update` adds to it.
    :ivar jobs: the queue at the last poll.
    :ivar cores: its jobs, by number.
    """

    def __init__(self, options, tiers: int, events: Events):
        self._options = options
        self._events = events
        self._gate = Gate(options, tiers)
        self.jobs = Queue()
        self.cores: dict[int, CoreJob] = {}
        #: The jobs that waited at the last poll.
        self._waiting: Mapping[int, Job] = {}
        #: Slots of a tier at the last poll.
        self._slots = 0

    def forget(self) -> None:
        """What policies see of the jobs may have changed: begin with an empty queue."""
        self.jobs, self.cores, self._waiting = Queue(), {}, {}
        self._gate.forget()

    def update(self, present: Situation, found: Candidates) -> None:
        """Update the queue from the jobs that wait at this poll, and note the events.

        Jobs that the pool, the gates or the limits keep from starting leave `found.queue`.
        """
        events, queue = self._events, found.queue
        renewed = self._renewed(queue, found.fresh)
        self._drop_too_large(queue, renewed, present.seen.shape_slots)
        renewed += priorities.exchange(queue, present.prioritised)
        if self._gate.active:
            # Policies see the slots of those that are released as idle, so nobody holds them.
            released = present.released
            apart = (
                job
                for number, job in found.active.items()
                if number not in queue and number not in released
            )
            holding = held_tiers(apart, present.starting, present.departures)
            changed, news = self._gate.apply(queue, holding)
            renewed += changed
            if news:
                events.happened(ALL)
        events.notice_jobs(queue, found.held, present.now)
        if self._follow(queue, renewed):
            # The jobs that were behind it move up.
            events.happened(ALL)
        if self._arrived_ahead(queue, found.running):
            events.happened(ALL)

    def _drop_too_large(self, queue: dict[int, Job], renewed: Iterable[Job], slots: int) -> None:
        """Take jobs out of the queue that are larger than the pool: they would hold up others."""
        # Those that have waited before fit, unless the pool has shrunk.
        for job in list(queue.values()) if slots < self._slots else renewed:
            # A core's fields are faster to get than a row's.
            if job.core.size > slots:
                del queue[job.number]
                job.reason = too_large(job, slots)
        self._slots = slots

    def _renewed(self, waiting: Mapping[int, Job], fresh: Iterable[Job]) -> list[Job]:
        """The waiting jobs that are new or may have changed since the last poll.

        :param fresh: those that may have, although their rows were not read anew.
        """
        jobs = waiting.values()
        news = compress(jobs, map(is_not, jobs, map(self._waiting.get, waiting)))
        return list({job.number: job for job in (*news, *fresh)}.values())

    def _follow(self, queue: Mapping[int, Job], renewed: Iterable[Job]) -> bool:
        """Add, remove and replace jobs of the queue.

        :param queue: the jobs that wait now, by number.
        :param renewed: those that may have changed; others are ignored.
        :returns: whether a job has another place than before, because it was held and released, or
            by its priority.
        """
        cores, shown = self.cores, self.jobs
        changed = {
            core.number: core
            for job in renewed
            if (core := job.core).number in queue and cores.get(core.number) != core
        }
        moved = cores.keys() & changed.keys()
        for number in moved | (cores.keys() - queue.keys()):
            shown.remove(cores.pop(number))
        for core in sorted(changed.values(), key=lambda core: core.order):
            shown.add(core)
        cores.update(changed)
        self._waiting = queue
        return bool(moved)

    def _arrived_ahead(self, queue: Mapping[int, Job], running: Iterable[Job]) -> bool:
        """Whether a job has arrived ahead of others that wait or run, as `fair_share.is_ahead`.

        :param queue: the jobs that wait now, by number.
        """
        # Without fair share and gates, jobs that are not urgent arrive behind all others.
        placed = self._options.fair_share != NONE
        news = [
            job.core.order
            for job in self._events.arrived(queue)
            if placed or job.core.precedence < 0 or job.came_through or job.array is not None
        ]
        arrived = min(news, default=None)
        if arrived is None:
            return False
        return arrived < self.jobs[-1].order or any(arrived < job.core.order for job in running)
