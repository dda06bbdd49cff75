"""Keeps the CPU priorities of a host's VMs as the ledger says."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Collection, Mapping

from oslo_log import log as logging

from nova_twotier.agent.claims import Claim, ClaimReader
from nova_twotier.agent.guests import Busy, Gone, Guest, Hypervisor, HypervisorError, Priority
from nova_twotier.agent.lifeline import Lifeline
from nova_twotier.agent.priority import Rules, priorities
from nova_twotier.agent.telemetry import Telemetry
from nova_twotier.agent.troubles import Troubles
from nova_twotier.core.actions import Tier
from nova_twotier.ledger.placement import PlacementError

LOG = logging.getLogger(__name__)


class Reconciler:
    """Reconciles the CPU weight and pinning of this host's VMs with their claims in Placement.

    It compares after a change in the ledger, for a VM that has started, paused, resumed or
    migrated in, or to which something is being done, and all VMs every `sweep_interval` seconds. It
    remembers nothing that it could not read again: a new agent goes on where another one stopped.

    :param sweep_interval: seconds.
    :param telemetry: measures the VMs, if it is to.
    :param clock: the time in seconds, from any start.
    """

    def __init__(
        self,
        claims: ClaimReader,
        hypervisor: Hypervisor,
        rules: Rules,
        sweep_interval: float,
        telemetry: Telemetry | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._claims, self._hypervisor, self._rules = claims, hypervisor, rules
        self._sweep_interval, self._clock = sweep_interval, clock
        self._telemetry = telemetry
        self._lock = threading.Lock()
        # Not an Event: a signal handler may call `stop` while this thread holds the event's lock.
        self._woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._stopping = False
        #: VMs that may have changed since they were last read, and those that could not be read.
        self._changed: set[str] = set()
        self._unread: set[str] = set()
        self._sweep_at = self._clock()
        #: All VMs have to be read again, because libvirt did not answer.
        self._reread = False
        self._guests: dict[str, Guest] = {}
        #: The last claims of VMs that have none any more and still run: Nova gives a VM's claim to
        #: its migration long before the VM leaves. They have the foreground's weight until then.
        self._leaving: dict[str, Claim] = {}
        #: The claims at the last step.
        self._claimed: Mapping[str, Claim] = {}
        #: Of Placement, libvirt, or VMs by their uuid.
        self._troubles = Troubles(LOG)

    def changed(self, uuid: str | None) -> None:
        """Have a VM, or all of them, compared at once; any thread may call it."""
        with self._lock:
            if uuid is None:
                self._sweep_at = self._clock()
            else:
                self._changed.add(uuid)
        self._woken.put(None)

    def stop(self) -> None:
        """End `run`; a signal handler may call it."""
        self._stopping = True
        self._woken.put(None)

    def run(self, poll_interval: float) -> None:
        """Reconcile until `stop` is called, then leave all VMs as they are.

        :param poll_interval: seconds between two polls of the ledger.
        """
        lifeline = Lifeline(self._hypervisor, self.lift)
        lifeline.start()
        while not self._stopping:
            self.step()
            with contextlib.suppress(queue.Empty):
                self._woken.get(timeout=poll_interval)
                while True:
                    self._woken.get_nowait()
        lifeline.stop()

    def step(self) -> None:
        """Poll the ledger, compare what may have changed, and measure what the VMs use."""
        now = self._clock()
        with self._lock:
            sweep = now >= self._sweep_at
            if sweep:
                self._sweep_at = now + self._sweep_interval
            changed, self._changed = self._changed | self._unread, set()
        moved = self._poll_ledger(sweep)
        if not sweep:
            changed |= self._attended()
        reread = sweep or self._reread
        self._read_guests(None if reread else changed)
        self._follow_leaving()
        if reread or changed or moved or self._troubles:
            self._enforce()
        if self._telemetry is not None:
            # Not `now`: Placement and libvirt may have taken long.
            self._telemetry.step(self._clock(), self._claims.found, self._guests)

    def lift(self, uuid: str | None) -> None:
        """Give a VM about which the hypervisor does not answer the weight of the foreground.

        Any thread may call it. When the hypervisor answers again, the VM is compared.

        :param uuid: None: it may be because of any VM, so all in the background are lifted.
        """
        claims = {**self._leaving, **self._claims.found.claims}
        if uuid is None:
            lifted = [each for each, claim in claims.items() if claim.tier is Tier.BG]
        else:
            lifted = [uuid] if uuid in claims else []
        for each in lifted:
            with contextlib.suppress(HypervisorError):
                self._hypervisor.lift(each, self._rules.weights[Tier.FG])
                self.changed(each)

    def _attended(self) -> set[str]:
        """VMs that are being started, and those that have become busy or are so no longer.

        No event says so.
        """
        claims = self._claims.found.claims
        found = set()
        for uuid, guest in self._guests.items():
            if uuid in claims and claims[uuid].tier is Tier.BG:
                with contextlib.suppress(HypervisorError):  # the sweep reports it
                    if self._hypervisor.is_busy(uuid) != guest.busy:
                        found.add(uuid)
        # After the others: this request hangs with any VM, and does not say with which: then all in
        # the background are lifted.
        with contextlib.suppress(HypervisorError):
            found |= set(self._hypervisor.running()) - set(self._guests)
        return found

    def _poll_ledger(self, whole: bool) -> bool:
        """Whether the claims have changed; while Placement does not answer, the last ones hold."""
        try:
            changed = self._claims.poll(whole)
        except PlacementError as error:
            self._troubles.has("placement", f"{error}; the last claims hold")
            return False
        self._troubles.over("placement", "Placement answers again")
        if self._claims.problem:
            self._troubles.has("host", self._claims.problem)
        else:
            self._troubles.over("host", "the host has tiers now")
        slots, cpus = self._claims.found.slots, len(self._rules.slot_cpus)
        if slots and cpus and not self._rules.pins(slots):
            self._troubles.has(
                "slots",
                f"VMs are not pinned: [agent]slot_cpus names {cpus} CPUs for {slots} slots",
            )
        else:
            self._troubles.over("slots", "[agent]slot_cpus names enough CPUs now")
        return changed

    def _read_guests(self, uuids: Collection[str] | None) -> None:
        """Read the named VMs from the hypervisor, or all of them if `uuids` is None."""
        if uuids is None:
            try:
                uuids = self._hypervisor.running()
            except HypervisorError as error:
                self._troubles.has("libvirt", str(error))
                self._reread = True
                return
            self._reread = False
            self._troubles.over("libvirt", "libvirt answers again")
            self._guests.clear()
        unread, self._unread = self._unread, set()
        for uuid in uuids:
            self._guests.pop(uuid, None)
            try:
                self._guests[uuid] = self._hypervisor.guest(uuid)
            except Gone:
                pass
            except HypervisorError as error:
                # libvirt refuses for a moment while it starts or ends the VM.
                if uuid in unread:
                    self._troubles.has(uuid, f"VM {uuid} cannot be read: {error}")
                self._unread.add(uuid)

    def _follow_leaving(self) -> None:
        found = self._claims.found
        if found.host is None:
            return  # The host has left the ledger, as while it is made anew: its VMs stay.
        before, present = {**self._leaving, **self._claimed}, found.claims
        self._claimed = present
        self._leaving = {
            uuid: claim
            for uuid, claim in before.items()
            if uuid not in present and (uuid in self._guests or uuid in self._unread)
        }

    def _enforce(self) -> None:
        found, leaving = self._claims.found, self._leaving
        for uuid in leaving.keys() & self._guests.keys():
            self._raise(self._guests[uuid])
        wanted = priorities(found, self._guests.values(), self._rules, leaving)
        for uuid, priority in wanted.items():
            guest = self._guests[uuid]
            if priority.is_in_force(guest):
                self._troubles.over(uuid, f"VM {uuid} has its priority at last")
                continue
            try:
                self._hypervisor.apply(guest, priority)
                self._guests[uuid] = guest = self._hypervisor.guest(uuid)
            except Gone:
                del self._guests[uuid]
            except Busy:
                self._unread.add(uuid)  # the next step tries again
            except HypervisorError as error:
                self._troubles.has(uuid, f"VM {uuid} does not get its priority: {error}")
            else:
                self._report(uuid, guest, priority)
        kept = {"placement", "host", "slots", "libvirt", *wanted, *leaving, *self._unread}
        self._troubles.keep(kept)

    def _raise(self, guest: Guest) -> None:
        """Set a leaving VM to the foreground's weight, without libvirt: that refuses changes while
        it migrates a VM."""
        weight = self._rules.weights[Tier.FG]
        uuid, raised = guest.uuid, Priority(weight)
        if guest.weight is None or raised.is_in_force(guest):
            return
        with contextlib.suppress(HypervisorError):  # it is gone, or the sweep tries again
            self._hypervisor.lift(uuid, weight)
            self._guests[uuid] = guest = self._hypervisor.guest(uuid)
            if not raised.is_in_force(guest):
                self._troubles.has(uuid, f"VM {uuid}, which leaves, was to have {raised}")

    def _report(self, uuid: str, guest: Guest, priority: Priority) -> None:
        if priority.is_in_force(guest):
            self._troubles.over(uuid, f"VM {uuid} has its priority at last")
            LOG.info("VM %s in %s: %s", uuid, self._claims.found.claims[uuid].tier, priority)
        else:
            self._troubles.has(uuid, f"VM {uuid} was to have {priority}; it has {guest}")
