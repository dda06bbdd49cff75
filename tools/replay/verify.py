"""Compares the decisions of the live system with the simulator's, event by event."""

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from novaclient import exceptions as nova_exc
from sqlalchemy import select

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.core import policies
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.policies import Policy
from nova_twotier.db.models import Action, Job
from nova_twotier.db.states import ActionState, JobState
from nova_twotier.db.store import Store, open_store
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.manager import schedule
from nova_twotier.tools.replay import comparison, decisions, stepwise
from nova_twotier.tools.replay.errors import ReplayError
from nova_twotier.tools.replay.queue import Queue
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.sampling import Sample, Sampler
from nova_twotier.tools.replay.workload import ReplayJob

#: Wall seconds between two polls, and polls of the manager after which it has nothing left to do.
INTERVAL = 0.1
CALM = 2.5


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    :param kinds: how many actions on jobs were decided live, by kind (`decisions.kinds`).
    :param difference: from the simulator's decisions, as lines; empty if there is none.
    :param failures: reasons of decisions that failed: they are repeated, but only in the live run.
    """

    kinds: Mapping[str, int]
    difference: list[str]
    failures: list[str]

    @property
    def decisions(self) -> int:
        """How many decisions were compared."""
        return sum(self.kinds.values())

    @property
    def alike(self) -> bool:
        """Whether there were decisions, and all of them were the same."""
        return bool(self.decisions) and not self.difference


class LiveWorld:
    """A queue manager that is at work, on a real cloud.

    :param calm: seconds after which the manager, if nothing happens, has nothing left to do.
    :param patience: seconds after which the cloud is stuck.
    """

    def __init__(
        self,
        store: Store,
        queue: Queue,
        cloud: Cloud,
        sampler: Sampler,
        calm: float,
        patience: float,
        watch: Callable[[], None],
    ):
        self._store = store
        self._queue = queue
        self._cloud = cloud
        self._sampler = sampler
        self._calm = calm
        self._patience = patience
        self._watch = watch

    def submit(self, job: ReplayJob, now: float) -> Entry:
        return self._queue.submit(job)

    def stop(self, servers: Iterable[Server], now: float) -> None:
        for server in servers:
            try:
                self._cloud.nova.servers.stop(server.id)
            except nova_exc.ClientException as error:
                raise ReplayError(f"server {server.id} does not stop: {error}") from error

    def settle(self) -> Sample:
        """:raises ReplayError: if it takes too long."""
        end = time.monotonic() + self._patience
        since, sample = None, None
        while (now := time.monotonic()) < end:
            self._watch()
            if self._busy():
                since = None
            elif since is None:
                since = now
            elif now - since >= self._calm:
                # A last poll: Nova may be busy with something that was not requested.
                with contextlib.suppress(CloudError, PlacementError):
                    sample = self._sampler.sample(time.time())
                    # Meanwhile the manager may have begun something.
                    if not (any(map(_unsettled, sample.servers)) or self._busy()):
                        return sample
                since = None
            time.sleep(INTERVAL)
        raise ReplayError(f"still at work after {self._patience:.0f} s: {self._busy() or 'Nova'}")

    def _busy(self) -> str:
        """What the manager still has to do, in words."""
        with self._store.reading() as session:
            left = select(Action).where(Action.state == ActionState.EXPECTED)
            kinds = [f"{action.kind} of job {action.job}" for action in session.scalars(left)]
        fresh = [
            f"job {job.number} is not looked at"
            for job in self._queue.poll().jobs.values()
            if job.state == JobState.QUEUED and not job.reason
        ]
        return ", ".join(kinds + fresh)


def _unsettled(server: Server) -> bool:
    """Nova is busy with it, or the manager has not seen that its guest is done."""
    return server.busy or server.status == "SHUTOFF"


def verify(
    conf,
    jobs: Iterable[ReplayJob],
    patience: float = 300.0,
    watch: Callable[[], None] = lambda: None,
) -> Verdict:
    """Play jobs one event at a time, and decide on the same events in the simulator.

    :param conf: of a manager that is at work, and whose queue is empty.
    :param patience: seconds that an event may lead to work.
    :param watch: called now and then; what it raises ends the run.
    :raises ReplayError: if the cloud does not answer, or the manager is at work for ever.
    """
    cloud = Cloud(conf)
    sampler = Sampler(cloud, placement_for(conf))
    roster = Roster()
    calm = CALM * conf.manager.poll_interval
    with contextlib.closing(open_store(conf)) as store:
        queue = Queue(store, roster)
        try:
            shapes = sampler.shapes()
        except CloudError as error:
            raise ReplayError(str(error)) from error
        world = LiveWorld(store, queue, cloud, sampler, calm, patience, watch)
        stepwise.play(jobs, roster, world)
        rows = [store.job(entry.number) for entry in roster]
        bandwidth = any(row.bandwidth for row in rows)
        policy = policies.get(conf.manager.policy, conf.manager.deadline_factor)
        cluster = comparison.cluster_of(shapes, conf.manager.threshold, policy, bandwidth)
        return _compare(store, rows, policy, cluster)


def _compare(store: Store, jobs: Sequence[Job], policy: Policy, cluster: Cluster) -> Verdict:
    with store.reading() as session:
        actions = list(session.scalars(select(Action).order_by(Action.id)))
        places = list(schedule.places(session))
    placed = decisions.placed(actions, places, [host.name for host in cluster.hosts])
    live = decisions.recorded(actions, comparison.orders(jobs, policy))
    simulated = comparison.simulate(jobs, policy, cluster, placed)
    return Verdict(
        kinds=decisions.kinds(live),
        difference=decisions.difference([one.words for one in simulated], [o.words for o in live]),
        failures=[action.reason for action in actions if action.state == ActionState.FAILED],
    )
