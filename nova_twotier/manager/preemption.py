"""Stand-alone servers in the background that make way for jobs, as their flavors say.

A policy sees the slots of these servers as taken. If jobs go on waiting, it is asked once more what
it would do without the servers; those whose slots it would use then are shelved or deleted, and the
policy decides anew when the slots are free. Nothing of this is recorded: after a restart, or under
another leader, the same is worked out again.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Set
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import cast

from oslo_log import log as logging
from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import BG
from nova_twotier.core.flavors import DELETE
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import OVER
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.forecast import PREEMPTIBLE
from nova_twotier.manager.observation import CLAIM_CHANGES, Observation
from nova_twotier.manager.operations.gang import NOTICE, PREEMPTED
from nova_twotier.manager.operations.operation import CloudRequest

LOG = logging.getLogger(__name__)

#: Seconds until a server that is still there is shelved, or deleted, once more; doubles each time.
RETRY_AFTER = 30.0
#: Seconds for which a server is left alone that could not be shelved or deleted.
GIVEN_UP = 900.0
#: Statuses of servers that Nova shelves.
SHELVABLE = frozenset({"ACTIVE", "PAUSED", "SHUTOFF", "SUSPENDED"})


def stand_alone(session: Session, seen: Observation) -> dict[str, Server]:
    """The preemptible servers that belong to no job of any pool, by id.

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
    policy: Policy,
    after: Snapshot,
    servers: Mapping[str, Server],
    seen: Observation,
    begun: Container[str] = (),
    coming: int = 0,
) -> list[Server]:
    """The servers without which the policy would place more jobs; no more than it needs.

    First those that leave already, wherever they are, then those that were chosen before; of the
    others the newest, on the hosts that the policy would choose.

    :param after: how things are after the policy's decision.
    :param servers: by id; their places are the cluster's job `forecast.PREEMPTIBLE`.
    :param begun: ids of those that were chosen before, see `Preemptions.begun`.
    :param coming: background places that others are about to give up.
    """
    if not after.queue or PREEMPTIBLE not in after.cluster.runs:
        return []
    shown = after.copy()
    # Whoever uses what is left over drives nobody out.
    for job in [each for each in shown.queue if each.qos is SCAVENGER]:
        shown.queue.remove(job)
    cluster = cast(Hosts, shown.cluster)  # a pool has no other kind
    places = Counter(cluster.remove(cluster.runs[PREEMPTIBLE].job).hosts)
    before = list(cluster.used[BG])
    policy.schedule(shown, Event.BACKGROUND, seen.at)
    new = [now - then for now, then in zip(cluster.used[BG], before, strict=True)]
    found: list[Server] = []
    for host, count in places.items():
        lacking = min(new[host], cluster.used[BG][host] + count - cluster.open_background(host))
        name = cluster.hosts[host].name
        there = [each for each in servers.values() if seen.claims[each.id].host == name]
        found += sorted(there, key=partial(_turn, begun))[: max(0, lacking)]
    if isinstance(cluster, Linked):
        return found  # It matters where the places are.
    started = [each for each in servers.values() if is_leaving(each) or each.id in begun]
    known = {each.id: each for each in (*started, *found)}
    # Idle places, and those of whoever leaves, serve as well as those that the policy would choose.
    most = sum(count for count in new if count > 0) - after.cluster.idle[BG] - coming
    return sorted(known.values(), key=partial(_turn, begun))[: max(0, most)]


def is_leaving(server: Server) -> bool:
    """Whether Nova is about to take a server off its slot."""
    return server.task in CLAIM_CHANGES


def _turn(begun: Container[str], server: Server) -> tuple[bool, bool, bool, float]:
    """In which order servers are chosen; what their owners keep busy comes last."""
    busy = server.busy and not is_leaving(server)
    newest_first = -(server.launched_at or 0.0)
    return not is_leaving(server), busy, server.id not in begun, newest_first


@dataclass(slots=True)
class _Preemption:
    """What was done to preempt a server.

    :param server: as it was when it was chosen, at the time `since`.
    :param staying: if it was chosen before, and may be off since then.
    :param times: how often it was shelved or deleted, the last time as `asked`.
    :param reset: whether it was looked up if its request was lost.
    """

    server: Server
    since: float
    staying: "_Staying | None" = None
    times: int = 0
    asked: Asked | None = None
    reset: bool = False

    def is_due(self, grace: float, now: float) -> bool:
        if self.asked is None:
            return now >= self.since + grace
        return now >= self.asked.at + RETRY_AFTER * 2 ** (self.times - 1)

    def spared(self) -> "_Staying | None":
        """What to remember of the server if it no longer has to make way.

        None: nothing was asked that may have powered it off.
        """
        if self.asked and (self.staying or self.server.status == "ACTIVE"):
            return _Staying(self.asked)
        return self.staying


@dataclass(slots=True)
class _Staying:
    """A server that need not make way any more, but may be off, since it was asked to be shelved.

    :param shelved: the last request to shelve it; Nova powers it off first.
    :param started: the last request to start it; there were `times` of them.
    """

    shelved: Asked
    started: Asked | None = None
    times: int = 0

    def is_due(self, now: float) -> bool:
        """Whether it may be asked to start, or asked again."""
        return self.started is None or self.started.may_repeat(now, RETRY_AFTER * 2**self.times)


class Preemptions:
    """Gives notice to the servers, shelves or deletes them, and takes that back.

    :param options: the options of group `[manager]`.
    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(self, options, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._options, self._cloud, self._tell = options, cloud, tell
        self._begun: dict[str, _Preemption] = {}
        #: Until when servers are left alone that could not be preempted.
        self._given_up: dict[str, float] = {}
        self._withdrawn: dict[str, Asked] = {}
        #: Servers that may have to be started again, by id.
        self._staying: dict[str, _Staying] = {}

    @property
    def begun(self) -> Set[str]:
        """Ids of the servers that were chosen last, without those that it tries in vain."""
        return {vm for vm, known in self._begun.items() if known.times <= 1}

    def candidates(self, servers: Mapping[str, Server], now: float) -> dict[str, Server]:
        """Those of the stand-alone servers that can be preempted, if the option says so."""
        if not self._options.preempt_servers:
            return {}
        self._given_up = {vm: until for vm, until in self._given_up.items() if now < until}
        return {
            vm: server
            for vm, server in servers.items()
            if vm not in self._given_up and self._can_leave(server, now)
        }

    def _can_leave(self, server: Server, now: float) -> bool:
        if is_leaving(server):
            # A task that hangs brings no slot.
            changed_at = now if server.updated_at is None else server.updated_at
            return now < changed_at + self._options.operation_timeout
        return server.preemptible == DELETE or server.status in SHELVABLE

    def poll(self, chosen: Iterable[Server], there: Mapping[str, Server], now: float) -> None:
        """
        :param chosen: the servers that are to make way, as they were when they were chosen.
        :param there: all stand-alone servers that may have to, as they are now.
        """
        before, self._begun = self._begun, {}
        for server in (there[each.id] for each in chosen if each.id in there):
            known = before.pop(server.id, None) or self._begin(server, now)
            if known.times >= self._options.attempts and known.is_due(0.0, now):
                self._given_up[server.id] = now + GIVEN_UP
                before[server.id] = known
                continue
            self._begun[server.id] = known
            self._advance(known, server, now)
        spared = {vm: known.spared() for vm, known in before.items()}
        self._staying |= {vm: staying for vm, staying in spared.items() if staying}
        self._start_again(there, now)
        self._withdraw_notices(there, now)

    def _begin(self, server: Server, now: float) -> _Preemption:
        if (grace := self._options.preemption_grace) and not is_leaving(server):
            at = datetime.fromtimestamp(now + grace, UTC)
            self._notify(server, PREEMPTED + at.isoformat(timespec="seconds"))
        return _Preemption(server, now, self._staying.get(server.id))

    def _advance(self, known: _Preemption, server: Server, now: float) -> None:
        if is_leaving(server):
            since = known.asked.at if known.asked else known.since
            if not known.reset and now >= since + self._options.operation_timeout / 2:
                known.reset = True
                self._request("reset", server, partial(self._cloud.reset_if_lost, server))
        elif not server.busy and known.is_due(self._options.preemption_grace, now):
            known.times, known.reset = known.times + 1, False
            LOG.info("Server %s makes way for a job: %s", server.id, server.preemptible)
            if server.preemptible == DELETE:
                act = partial(self._cloud.delete, server)
            else:
                act = partial(self._cloud.shelve, server)
            known.asked = Asked(now, self._request("preempt", server, act))

    def _start_again(self, there: Mapping[str, Server], now: float) -> None:
        """Start the servers that need not make way any more but were powered off to be shelved.

        Nova may still be shelving some of them.
        """
        before, self._staying = self._staying, {}
        for vm, staying in before.items():
            server = there.get(vm)
            if server is None or vm in self._begun or staying.times >= self._options.attempts:
                continue
            idle, off = not server.busy, server.status == "SHUTOFF"
            # Until then, the list of servers may be older than the request to shelve this one.
            if idle and not off and staying.shelved.may_repeat(now, RETRY_AFTER):
                continue
            self._staying[vm] = staying
            if idle and off and staying.shelved.answer.done() and staying.is_due(now):
                run = partial(self._cloud.start, server)
                staying.started = Asked(now, self._request("start", server, run))
                staying.times += 1

    def _withdraw_notices(self, there: Mapping[str, Server], now: float) -> None:
        """Whoever gave them: another leader may have."""
        before, self._withdrawn = self._withdrawn, {}
        for vm, server in there.items():
            if server.notice and vm not in self._begun and not server.busy:
                asked = before.get(vm)
                if asked is None or asked.may_repeat(now, RETRY_AFTER):
                    asked = Asked(now, self._notify(server, None))
                self._withdrawn[vm] = asked

    def _notify(self, server: Server, text: str | None) -> Future:
        return self._request(NOTICE, server, partial(self._cloud.notice, server, text))

    def _request(self, purpose: str, server: Server, run: Callable[[], object]) -> Future:
        return self._tell(CloudRequest(RequestKey(purpose, server.id), run))
