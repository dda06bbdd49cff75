"""Stand-alone servers in the background that make way for jobs, as their flavors say.

A policy sees the slots of these servers as taken. If jobs go on waiting, it is asked once more what
it would do without the servers; those whose slots it would use then are shelved or deleted, and the
policy decides anew when the slots are free. Nothing of this is recorded: after a restart, or under
another leader, the same is worked out again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from oslo_log import log as logging
from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import BG
from nova_twotier.core.flavors import DELETE
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import OVER
from nova_twotier.manager.forecast import PREEMPTIBLE
from nova_twotier.manager.observation import CLAIM_CHANGES, Observation
from nova_twotier.manager.operations.operation import CloudRequest

LOG = logging.getLogger(__name__)

#: Seconds until a server that is still there is shelved, or deleted, once more; doubles each time.
RETRY_AFTER = 30.0
NOTICE, PREEMPT, START = "notice", "preempt", "start"


def stand_alone(session: Session, seen: Observation) -> dict[str, Server]:
    """The servers that may be preempted, by id: never those of a job, whoever's pool it is in.

    What a server's metadata says is its owner's word; it is a job's only if both have one owner.
    """
    found = {vm: each for vm, each in seen.preemptible.items() if vm not in seen.recorded}
    if named := {server.job for server in found.values() if server.job}:
        jobs = select(Job).where(Job.uuid.in_(named), Job.state.not_in(OVER))
        owners = {job.uuid: job.server_owner for job in session.scalars(jobs)}
        for vm, server in list(found.items()):
            if server.job in owners and server.owner == owners[server.job]:
                del found[vm]
    return found


def victims(
    policy: Policy, after: Snapshot, servers: Mapping[str, Server], seen: Observation, now: float
) -> list[Server]:
    """The servers without which the policy would place more jobs; no more than it needs.

    Those that leave already are counted first, then the newest.

    :param after: how things are after the policy's decision.
    :param servers: by id; their places are the cluster's job `forecast.PREEMPTIBLE`.
    """
    if not after.queue or PREEMPTIBLE not in after.cluster.runs:
        return []
    shown = after.copy()
    cluster = shown.cluster
    places = Counter(cluster.remove(cluster.runs[PREEMPTIBLE].job).hosts)
    before = list(cluster.used[BG])
    policy.play(shown, Event.BACKGROUND, now)
    new = {host: cluster.used[BG][host] - before[host] for host in range(len(before))}
    lacking = {
        host: min(new[host], cluster.used[BG][host] + count - cluster.open_background(host))
        for host, count in places.items()
    }
    # Idle places serve as well as those that the policy would choose, unless links count.
    wanted = sum(count for count in new.values() if count > 0)
    most = wanted if isinstance(cluster, Linked) else wanted - after.cluster.idle[BG]
    found: list[Server] = []
    for host, count in lacking.items():
        name = cluster.hosts[host].name
        there = (each for each in servers.values() if seen.claims[each.id].host == name)
        found += sorted(there, key=_turn)[: max(0, count)]
    return sorted(found, key=_turn)[: max(0, most)]


def _turn(server: Server) -> tuple[bool, bool, float]:
    return server.task not in CLAIM_CHANGES, server.busy, -(server.launched_at or 0.0)


@dataclass(slots=True)
class _Preemption:
    """What was done to preempt a server.

    :param at: when it was chosen.
    :param times: how often it was shelved or deleted, the last time at `asked_at`.
    """

    server: Server
    at: float
    times: int = 0
    asked_at: float = 0.0

    def is_due(self, grace: float, now: float) -> bool:
        if not self.times:
            return now >= self.at + grace
        return now >= self.asked_at + RETRY_AFTER * 2 ** (self.times - 1)


class Preemptions:
    """Gives notice to the servers, shelves or deletes them, and takes that back.

    :param tell: makes a request; its future has the error, or None.
    :param options: the options of group `[manager]`.
    """

    def __init__(self, options, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._options, self._cloud, self._tell = options, cloud, tell
        self._begun: dict[str, _Preemption] = {}

    def poll(self, chosen: Iterable[Server], there: Mapping[str, Server], now: float) -> None:
        """
        :param chosen: the servers that are to make way, as they were when they were chosen.
        :param there: all that hold slots and may have to, as they are now.
        """
        before, self._begun = self._begun, {}
        grace = self._options.preemption_grace
        for vm in (each.id for each in chosen if each.id in there):
            server = there[vm]
            known = before.pop(vm) if vm in before else self._begin(server, grace, now)
            self._begun[vm] = known
            if not server.busy and known.is_due(grace, now):
                known.times, known.asked_at = known.times + 1, now
                self._preempt(server)
        for vm, known in before.items():
            if vm in there:
                self._spare(known, there[vm], grace)

    def _begin(self, server: Server, grace: float, now: float) -> _Preemption:
        if grace:
            at = datetime.fromtimestamp(now + grace, UTC)
            notice = f"preempted at {at.isoformat(timespec='seconds')}"
            self._request(NOTICE, server, partial(self._cloud.notice, server, notice))
        return _Preemption(server, now)

    def _preempt(self, server: Server) -> None:
        LOG.info("Server %s makes way for a job: %s", server.id, server.preemptible)
        act = self._cloud.delete if server.preemptible == DELETE else self._cloud.shelve
        self._request(PREEMPT, server, partial(act, server))

    def _spare(self, known: _Preemption, server: Server, grace: float) -> None:
        """It is not needed any more: what was done to it in vain is undone."""
        if grace:
            self._request(NOTICE, server, partial(self._cloud.notice, server, None))
        was_on = known.server.status == "ACTIVE"
        if known.times and was_on and server.status == "SHUTOFF" and not server.busy:
            self._request(START, server, partial(self._cloud.start, server))

    def _request(self, purpose: str, server: Server, run: Callable[[], object]) -> None:
        self._tell(CloudRequest(RequestKey(purpose, server.id), run))
