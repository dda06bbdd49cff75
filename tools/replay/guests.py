"""Acts as the guests: processes advance as their tier lets them, and stop when they are done."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster, Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.prediction.slot_rates import SlotRates
from nova_twotier.core.progress import Progress
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.sampling import Sample

#: Seconds until a manager has surely heard that a host is back: with answers of Nova that are lost,
#: it takes several lists of the hosts, each of which takes long on a busy machine.
NEWS = 45.0


@dataclass(frozen=True)
class Harm:
    """Faults of hosts and guests during a replay; any thread may change them.

    :param dead: names of the hosts on which nothing runs.
    :param struck: ids of servers whose guests were powered off hard, or deleted, by a fault: the
        work of their jobs is lost, unless it was done. Each counts once, and is then removed.
    :param revived: when hosts came back, by `time.monotonic`.
    :param outages: whatever keeps the manager from its cloud or its database.
    """

    dead: set[str] = field(default_factory=set)
    struck: set[str] = field(default_factory=set)
    revived: dict[str, float] = field(default_factory=dict)
    outages: set[object] = field(default_factory=set)

    def revive(self, hosts: Iterable[str]) -> None:
        """Let guests run again on hosts that were dead."""
        for host in hosts:
            self.revived[host] = time.monotonic()
            self.dead.discard(host)

    def believed_dead(self, host: str | None) -> bool:
        """Whether a host came back so recently that a manager may still take it for dead."""
        return time.monotonic() - self.revived.get(host or "", -NEWS) < NEWS


class Guests:
    """The work that each job has done, in seconds on dedicated slots.

    Shelving keeps it; a gang with new servers begins anew.

    :ivar wasted: work of each job that was thrown away although no fault had affected its guests,
        in process-seconds: by the manager, or by a policy that kills.
    :ivar destroyed: work that was lost with a host or a server, in process-seconds.
    :ivar unsaved: work that each job had done since its guests last booted, whenever it was
        shelved, in process-seconds: a program without checkpoints would have to do it again.
    """

    def __init__(self, roster: Roster, model: Progress | None = None, harm: Harm | None = None):
        self._roster = roster
        self._model = model or Progress()
        self._harm = harm or Harm()
        self._rates: dict[int, float] = {}
        self._gangs: dict[int, frozenset[str]] = {}
        #: Jobs that have not advanced since a host of theirs died.
        self._stricken: set[int] = set()
        #: Jobs that were last seen with a server on a host that may be believed to be dead.
        self._doubtful: set[int] = set()
        #: Jobs that were done when a server of theirs was struck. Nova may not have shown that yet,
        #: so that the manager cannot know it.
        self._cut_off: set[int] = set()
        #: Servers that were struck before any sample showed their job with all of them.
        self._struck: set[str] = set()
        self.work: dict[int, float] = {}
        self.wasted: Counter[int] = Counter()
        self.destroyed: Counter[int] = Counter()
        self.unsaved: Counter[int] = Counter()
        #: Work of each job when its guests last booted.
        self._booted: dict[int, float] = {}

    def advance(self, seconds: float, sample: Sample) -> None:
        """Let `seconds` of trace time pass as of the last sample; from now on, as of this one."""
        done = {number for number in self._gangs if self.done(self._roster[number])}
        for number, rate in self._rates.items():
            runtime = self._roster[number].job.runtime
            self.work[number] = min(runtime, self.work.get(number, 0.0) + rate * seconds)
        struck = self._suffer(sample, done)
        self._begin_anew(sample)
        self._forget(sample)
        cluster = self._cluster(sample)
        rates = dict(SlotRates(self._model, cluster).placed(cluster.runs.values()))
        # The sample may be older than what has struck them.
        self._rates = {number: rate for number, rate in rates.items() if number not in struck}
        self._stricken -= self._rates.keys()

    def _suffer(self, sample: Sample, done: set[int]) -> set[int]:
        """Discard the work of jobs whose guests were struck; note those on dead hosts.

        Guests that had finished were off before: only Nova may not have shown that yet.

        :param done: numbers of the jobs that were done at the last sample. The others were struck
            before they were done, even if the time since then would have been enough.
        :returns: the numbers of the jobs whose guests were struck.
        """
        servers = set(self._harm.struck)
        self._harm.struck.difference_update(servers)
        servers |= self._struck
        self._struck = servers.difference(*self._gangs.values())
        hit = {number for number, gang in self._gangs.items() if gang & servers}
        struck = hit - done
        self._cut_off |= hit & done
        for number in struck:
            self._lose(self._roster[number], self.destroyed)
        self._stricken |= {
            entry.number
            for server in sample.servers
            if server.host in self._harm.dead and (entry := self._roster.find(server.job))
        }
        return struck

    def _begin_anew(self, sample: Sample) -> None:
        """Discard the work of jobs that were booted again."""
        for uuid, gang in sample.gangs().items():
            entry = self._roster.find(uuid)
            if entry is None or len(gang) != entry.size:
                continue
            servers = frozenset(server.id for server in gang)
            if self._gangs.setdefault(entry.number, servers) != servers:
                self._gangs[entry.number] = servers
                harmed = entry.number in self._stricken | self._doubtful | self._cut_off
                self._cut_off.discard(entry.number)
                self._lose(entry, self.destroyed if harmed else self.wasted)
            if any(self._harm.believed_dead(server.host) for server in gang):
                self._doubtful.add(entry.number)
            else:
                self._doubtful.discard(entry.number)

    def _forget(self, sample: Sample) -> None:
        """Note what shelved guests had in their memory: they boot again."""
        for uuid, gang in sample.gangs().items():
            entry = self._roster.find(uuid)
            if entry and any(server.status.startswith("SHELVED") for server in gang):
                work = self.work.get(entry.number, 0.0)
                before = self._booted.get(entry.number, 0.0)
                self.unsaved[entry.number] += (work - before) * entry.size
                self._booted[entry.number] = work

    def _lose(self, entry: Entry, account: Counter[int]) -> None:
        self._booted.pop(entry.number, None)
        account[entry.number] += self.work.pop(entry.number, 0.0) * entry.size

    def done(self, entry: Entry) -> bool:
        """Whether it ran, and has nothing left to do."""
        started = entry.number in self.work or entry.number in self._rates
        return started and self.work.get(entry.number, 0.0) >= entry.job.runtime

    def left(self) -> dict[int, float]:
        """Seconds until each job that advances is done, if nothing changes; by its number."""
        return {
            number: (self._roster[number].job.runtime - self.work.get(number, 0.0)) / rate
            for number, rate in self._rates.items()
        }

    def share(self, entry: Entry) -> float:
        """The part of its work that is done, 0..1."""
        if not entry.job.runtime:
            return float(self.done(entry))
        return self.work.get(entry.number, 0.0) / entry.job.runtime

    def to_stop(self, sample: Sample) -> list[Server]:
        """Servers that a finished guest switches off, also those restored after their end."""
        return [server for server in self._finished(sample) if not server.busy]

    def stopping(self, sample: Sample) -> list[Server]:
        """Servers that Nova is switching off for a finished guest."""
        return [server for server in self._finished(sample) if server.task == "powering-off"]

    def _finished(self, sample: Sample) -> list[Server]:
        """Servers that are on, whose guests have finished."""
        return [
            server
            for server in sample.servers
            if server.status == "ACTIVE"
            and server.host not in self._harm.dead
            and (entry := self._roster.find(server.job))
            and self.done(entry)
        ]

    def _cluster(self, sample: Sample) -> Cluster:
        """The cluster with the jobs that can advance: every server is up, and in one tier."""
        cluster = Hosts(
            [Host(host.name, host.shape.slots, host.shape.tiers) for host in sample.hosts]
        )
        index = {host.name: i for i, host in enumerate(sample.hosts)}
        for uuid, gang in sample.gangs().items():
            entry = self._roster.find(uuid)
            if entry is None or len(gang) != entry.size:
                continue
            held = [sample.claim(server) for server in gang]
            up = all(server.status == "ACTIVE" and server.task != "deleting" for server in gang)
            if any(server.host in self._harm.dead for server in gang):
                continue
            if up and all(held) and len({claim.tier for claim in held}) == 1:
                places = tuple(index[claim.host] for claim in held)
                cluster.adopt(Run(entry.core(), Tier(held[0].tier), places))
        return cluster
