"""The loop of a replay: submit what is due, poll, let the guests work, record, check, show."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from keystoneauth1 import exceptions as ksa_exc
from novaclient import exceptions as nova_exc

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.tools.replay.clock import Clock
from nova_twotier.tools.replay.errors import ReplayError
from nova_twotier.tools.replay.guests import Guests, Harm
from nova_twotier.tools.replay.invariants import Invariants
from nova_twotier.tools.replay.queue import Look, Queue
from nova_twotier.tools.replay.recorder import Recorder
from nova_twotier.tools.replay.roster import Roster
from nova_twotier.tools.replay.sampling import Sample, Sampler
from nova_twotier.tools.replay.workload import ReplayJob

#: Wall seconds between two samples.
INTERVAL = 1.0
#: Wall seconds for which the cloud may be silent, jobs unobserved, and leftovers present.
SILENCE = 60.0
UNOBSERVED = 20.0
SETTLING = 20.0
#: Wall seconds after which a server that Nova is still stopping has been forgotten.
FORGOTTEN = 60.0
#: Requests to stop servers that run at the same time.
STOPPERS = 4


@dataclass(frozen=True, slots=True)
class QueueLength:
    """Jobs that wait, at one time in wall seconds since the replay began."""

    at: float
    jobs: int


@dataclass
class Player:
    """One replay. `now` and `sleep` are arguments so that tests need no time.

    :param show: called with the player after every sample.
    :param say: called with a line for the user.
    """

    jobs: list[ReplayJob]
    queue: Queue
    roster: Roster
    cloud: Cloud
    sampler: Sampler
    clock: Clock
    show: Callable[["Player"], None]
    say: Callable[[str], None]
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    #: Faults of hosts and guests, and the patience of `Invariants`: for replays with fault
    #: injection.
    harm: Harm = field(default_factory=Harm)
    patience: int = 0
    queue_lengths: list[QueueLength] = field(default_factory=list)
    #: Statuses of the live migrations, by uuid, as Nova last showed them.
    live_migrations: dict[str, str] = field(default_factory=dict)
    interrupted: str = ""

    def __post_init__(self):
        self.guests = Guests(self.roster, harm=self.harm)
        self.recorder = Recorder(self.roster, self.clock.began)
        self.invariants = Invariants(self.roster, patience=self.patience)
        self.poll = Look({})
        self._due = deque(self.jobs)
        #: The last one.
        self.sample: Sample | None = None
        self._heard_at = self.clock.began
        #: Since when Nova has been stopping each server.
        self._stopping: dict[str, float] = {}
        self._warned = False

    def play(self, timeout: float) -> None:
        """Play until every job is over, the time is up, or the user interrupts."""
        stoppers = ThreadPoolExecutor(STOPPERS)
        try:
            while not self._over():
                if self.now() > self.clock.began + timeout:
                    self.interrupted = f"not over after {timeout:.0f} s"
                    break
                began = self.now()
                self._submit_due()
                self._round(stoppers)
                self.show(self)
                self._wait_until(began + INTERVAL)
        except KeyboardInterrupt:
            self.interrupted = "interrupted"
        finally:
            stoppers.shutdown()
        self._end()

    def elapsed(self) -> float:
        """Wall seconds since the replay began."""
        return self.now() - self.clock.began

    def _over(self) -> bool:
        return not self._due and len(self.poll.over) == len(self.roster)

    def _submit_due(self) -> None:
        while self._due and self.clock.wall(self._due[0].submit) <= self.now():
            self.queue.submit(self._due.popleft())

    def _wait_until(self, then: float) -> None:
        while (left := then - self.now()) > 0:
            if self._due:
                left = min(left, max(0.0, self.clock.wall(self._due[0].submit) - self.now()))
            self.sleep(left)
            self._submit_due()

    def _round(self, stoppers: ThreadPoolExecutor) -> None:
        self.poll = self.queue.poll()
        at = self.now()
        self.queue_lengths.append(QueueLength(at - self.clock.began, len(self.poll.waiting)))
        self._warn_if_unobserved(at)
        try:
            sample = self.sampler.sample(at)
            self.live_migrations |= self.sampler.live_migrations(self.recorder.seen)
        except (CloudError, PlacementError) as error:
            if at - self._heard_at > SILENCE:
                raise ReplayError(f"no answer for {SILENCE:.0f} s, giving up: {error}") from error
            self.say(f"warning: {error}; going on")
            return
        self._heard_at = at
        passed = (at - self.sample.at) * self.clock.speedup if self.sample else 0.0
        self.sample = sample
        self.guests.advance(passed, sample)
        self.recorder.see(sample)
        running = self.poll.running & self.queue.poll().running
        cut_off = bool(self.harm.outages)
        self.invariants.see(sample, at - self.clock.began, running, cut_off)
        list(stoppers.map(self._stop, self.guests.to_stop(sample)))
        self._repeat_lost_stops(self.guests.stopping(sample), at)

    def _stop(self, server) -> None:
        try:
            self.cloud.nova.servers.stop(server.id)
        except (nova_exc.Conflict, nova_exc.NotFound):
            pass  # Something else happens to it now; the next round looks again.
        except (nova_exc.ClientException, ksa_exc.ClientException) as error:
            self.say(f"warning: server {server.id} does not stop, trying again: {error}")

    def _repeat_lost_stops(self, stopping: Collection[Server], at: float) -> None:
        """Clear the task of servers that Nova has forgotten to stop; the next round stops them.

        A guest powers itself off without Nova. Here a request plays that, which may get lost.
        """
        self._stopping = {each.id: self._stopping.get(each.id, at) for each in stopping}
        for server in stopping:
            if at >= self._stopping[server.id] + FORGOTTEN:
                self.say(f"warning: Nova has forgotten to stop server {server.id}, trying again")
                with contextlib.suppress(nova_exc.ClientException, ksa_exc.ClientException):
                    self.cloud.nova.servers.reset_state(server.id, "active")

    def _warn_if_unobserved(self, at: float) -> None:
        oldest = min((job.submitted_at for job in self.poll.jobs.values()), default=at)
        if self._warned or at - oldest < UNOBSERVED or not self.poll.untouched:
            return
        self._warned = True
        self.say(
            f"warning: nobody has looked at the jobs for {UNOBSERVED:.0f} s; start "
            "`twotier-manager --config-file ...` with the configuration of this replay"
        )

    def _end(self) -> None:
        """Wait until nothing of the jobs is left, then check the end."""
        self.poll = self.queue.poll()
        leftovers = self._leftovers()
        deadline = self.now() + (0 if self.interrupted else SETTLING)
        while leftovers and self.now() < deadline:
            self.sleep(INTERVAL)
            leftovers = self._leftovers()
        self.recorder.finish(self.now())
        if self.interrupted:
            leftovers.insert(0, self.interrupted)
        rejected = [job.number for job in self.poll.rejected]
        self.invariants.end(self.queue.finishes(), rejected, self.guests, leftovers)

    def _leftovers(self) -> list[str]:
        """What is still there of the jobs, in words."""
        try:
            sample = self.sampler.sample(self.now())
            entries = self.sampler.entries_held()
            groups = self.sampler.server_groups()
        except (CloudError, PlacementError) as error:
            return [f"cannot tell: {error}"]
        self.recorder.see(sample)
        ours = [server for server in sample.servers if self.roster.find(server.job)]
        left = [f"{len(ours)} servers"] if ours else []
        uuids = tuple(entry.uuid for entry in self.roster)
        if uuids and (kept := sum(group.endswith(uuids) for group in groups)):
            left.append(f"{kept} server groups")
        if self.queue.unmanaged():
            self.say("note: other jobs are in the queue; their claims are not looked at")
            return left
        # As when a host dies in the middle of them, and the servers are deleted.
        if leaked := sample.claims.keys() & self.live_migrations.keys():
            self.say(
                f"note: Nova keeps the claims of {len(leaked)} migrations of servers that are "
                "gone; `twotier-manage ledger repair` drops them"
            )
        if claims := len(sample.claims) - len(leaked):
            left.append(f"claims of {claims} consumers")
        if entries:
            left.append(f"job entries {entries}")
        return left
