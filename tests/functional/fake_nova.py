"""Nova as the queue manager sees it, in memory, that takes its time and can be made to fail.

Claims are real: every placement goes through Placement, which refuses what does not fit.
"""

import dataclasses
import uuid
from collections import Counter, defaultdict
from datetime import UTC, datetime

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.errors import CloudError, NotYet, Undecided
from nova_twotier.cloud.instance_actions import InstanceAction
from nova_twotier.cloud.lost_requests import DISK_ONLY, RESETTABLE
from nova_twotier.cloud.servers import RUNNING, Server
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names, reading
from nova_twotier.ledger.placement import Conflict
from nova_twotier.ledger.tree import Shape

#: The hypervisor's power state of a guest that is off.
SHUT_DOWN = 4


class Crash(BaseException):
    """The manager is killed here: nothing of it runs on."""


class Faults:
    """Decides at each request whether it fails, or the manager dies, before or after its effect.

    :param random: the source of chance; nothing happens while `active` is False.
    """

    def __init__(self, random, failures, crashes):
        self.random, self.failures, self.crashes = random, failures, crashes
        self.active = True
        self.crashed = 0

    def around(self, effect):
        chance = self.random.random() if self.active else 1.0
        before = self.random.random() < 0.5
        kind = self._kind(chance)
        if kind and before:
            raise kind
        effect()
        if kind:
            raise kind

    def _kind(self, chance):
        if chance < self.crashes:
            self.crashed += 1
            return Crash()
        if chance < self.crashes + self.failures:
            return CloudError("Nova answered 500, as the test told it to")
        return None


class CrashingLedger:
    """Placement, at whose writes the manager may die; it counts them."""

    def __init__(self, placement, faults):
        self._placement, self._faults = placement, faults
        self.writes = 0

    def get(self, url):
        return self._placement.get(url)

    def put(self, url, body=None):
        return self._write(lambda: self._placement.put(url, body))

    def post(self, url, body):
        return self._write(lambda: self._placement.post(url, body))

    def delete(self, url):
        return self._write(lambda: self._placement.delete(url))

    def _write(self, effect):
        self.writes += 1
        faults = self._faults
        dies = faults.active and faults.random.random() < faults.crashes / 3
        before = faults.random.random() < 0.5
        if dies:
            faults.crashed += 1
        if dies and before:
            raise Crash()
        answer = effect()
        if dies:
            raise Crash()
        return answer


class FakeNova:
    """The interface of `cloud.nova.Cloud`.

    :param roots: uuid of each host's provider, by host name.
    :param clock: of the cloud.
    """

    def __init__(self, placement, roots, shape, faults, random, clock=lambda: 0.0):
        self.placement, self.roots, self.shape = placement, roots, shape
        self.clock = clock
        #: Of each server, newest first; and when each host was booted.
        self.actions: dict[str, list[InstanceAction]] = defaultdict(list)
        self.boots = dict.fromkeys(roots, -1e6)
        #: What guests wrote to their consoles.
        self.consoles: dict[str, str] = defaultdict(str)
        #: Servers that cannot be shelved, and those that cannot be started.
        #: What becomes of boots that Nova does not answer.
        self.slow_boots: list[callable] = []
        self.unshelvable: set[str] = set()
        self.unstartable: set[str] = set()
        self.faults, self.random = faults, random
        self.fleet: dict[str, Server] = {}
        self._listed = [], [], set()
        self.recorded: dict[str, str] = {}
        #: The tiers that jobs may run in, of flavors that do not allow all.
        self.flavors: dict[str | None, tuple[Tier, ...]] = {}
        self.groups: set[str] = set()
        #: The jobs that it was ever asked to boot.
        self.asked: set[str] = set()
        self.refused: set[str] = set()
        self.down: set[str] = set()
        self.forced_down: set[str] = set()
        #: The hosts that a job was booted for, as the scheduler was told.
        self.near: dict[str, str] = {}
        #: Why nova-computes were disabled.
        self.disabled: dict[str, str] = {}
        #: Hosts that no aggregate enables for tiers any more.
        self.left: set[str] = set()
        #: Servers that are as good as deleted.
        self.unlisted: set[str] = set()
        #: Servers that it never gets done with, but to delete them.
        self.stuck: set[str] = set()
        #: How many of the next requests for each action get lost on their way to nova-compute; and
        #: the servers that such requests have left with a task.
        self.losses: Counter[str] = Counter()
        self.lost: set[str] = set()
        #: Rounds for which slots that servers have left stay claimed, as by Nova's migrations, and
        #: how many are left, by migration.
        self.lingers = 0
        self._lingering: dict[str, int] = {}
        self._under_way: dict[str, callable] = {}
        self._moving: dict[str, str] = {}

    # What the manager calls

    boot_request = "req-7c1b1d0e-7d5c-4b7e-9a57-0d1a3b6c2f44"

    def begin(self, _lister):
        """It keeps nothing between two polls."""

    def remember(self, jobs):
        self.recorded = jobs

    def check(self):
        """The flavor is always there."""

    def limited_flavors(self):
        return dict(self.flavors)

    def servers(self):
        """The same object if none of them has changed, as the cloud does."""
        found = [
            dataclasses.replace(server, job=self.recorded.get(server.id, server.job))
            for server in self.fleet.values()
            if server.job
        ]
        others = [server for server in self.fleet.values() if not server.job]
        state = found, others, set(self.unlisted)
        if state != self._listed:
            self._listed = state
        return self._listed[0]

    def unmanaged(self, server):
        found = self.fleet.get(server)
        listed = found is not None and server not in self.unlisted
        return found if listed and not found.job else None

    def hosts(self):
        shape = Shape(*self.shape)
        down = self.down | self.forced_down
        return {
            name: ComputeHost(
                None if name in self.left else shape,
                enabled=name not in down and name not in self.disabled,
                up=name not in down,
                forced_down=name in self.forced_down,
                disabled=name in self.disabled,
                disabled_reason=self.disabled.get(name, ""),
                service=name,
            )
            for name in self.roots
        }

    def disable(self, service, reason):
        self.faults.around(lambda: self.disabled.update({service: reason}))

    def enable(self, service):
        self.faults.around(lambda: self.disabled.pop(service, None))

    def boot(self, job, user_data=None, near="", max_mbps=0, first=False):
        if first and job.uuid in self.asked:
            raise AssertionError(f"a later boot of job {job.number} does not look for its group")
        self.asked.add(job.uuid)
        if self.slow_boots:
            self.slow_boots.pop()(job)
            raise CloudError("no answer within 60 s")
        self.near[job.uuid] = near
        self.faults.around(lambda: self._boot(job.uuid, job.size))

    def stand_alone(self, host, tier, preemptible="", **values):
        """A tenant's own server is running; newer than all before."""
        vm = str(uuid.uuid4())
        root = self.roots[host]
        self._write(vm, {root: {"VCPU": 1}, names.child_uuid(root, tier): {names.SLOT: 1}})
        at = {"host": host, "launched_at": float(len(self.fleet))}
        values = {"job": "", "status": "ACTIVE", "preemptible": preemptible, **at, **values}
        self.fleet[vm] = Server(vm, index=0, task=None, **values)
        return vm

    def boot_late(self, job):
        """A boot is carried out at last."""
        self._boot(job.uuid, job.size)

    def _boot(self, job, size):
        self.groups.add(job)
        created = datetime.fromtimestamp(self.clock(), UTC)
        boot = {"created": f"{created:%Y-%m-%dT%H:%M:%S.%fZ}", "reservation": f"r-{uuid.uuid4()}"}
        for index in range(size):
            server = Server(str(uuid.uuid4()), job, index, "BUILD", "scheduling", None, **boot)
            self.fleet[server.id] = server
            self._under_way[server.id] = self._place
            self.log(server.id, "create")
        placed = [self._claim(server) for server in self.servers() if server.task == "scheduling"]
        if job in self.refused or not all(placed):  # all or nothing, as Nova's scheduler
            for server in self.servers():
                if server.task == "scheduling":
                    self._unclaim(server.id)
                    self._under_way[server.id] = self._fail
        for server in self.servers():
            if server.task == "scheduling":
                self._change(server.id, task="spawning")

    def shelve(self, server):
        self.faults.around(lambda: self._begin(server.id, "shelving", self._offload, "shelve"))

    def unshelve(self, server, host=None, again=False):
        def restore(server):
            self._restore(server, host)

        self.faults.around(lambda: self._begin(server.id, "unshelving", restore, "unshelve"))

    def suspend(self, server):
        self.faults.around(lambda: self._begin(server.id, "suspending", self._suspend, "suspend"))

    def resume(self, server):
        self.faults.around(lambda: self._begin(server.id, "resuming", self._place, "resume"))

    def start(self, server):
        self.faults.around(lambda: self._begin(server.id, "powering-on", self._power_on, "start"))

    def stop(self, server):
        self.faults.around(lambda: self._begin(server.id, "powering-off", self._power_off, "stop"))

    def reset_if_lost(self, server, memory=True):
        """As Nova does it: whatever the guest does, it counts as running."""
        if server.id in self.lost and server.task in (RESETTABLE if memory else DISK_ONLY):
            self.lost.remove(server.id)
            self._change(server.id, status="ACTIVE")
            self.log(server.id, "resetState")

    def delete_if_lost(self, server):
        if server.id in self.lost:
            self.delete(server)

    def require_lost(self, server):
        if server.id not in self.lost:
            raise Undecided("it is being brought back")

    def instance_actions(self, server):
        return list(self.actions[server.id])

    def booted_at(self, host):
        return self.boots[host]

    def console_log(self, server, lines):
        return "\n".join(self.consoles[server.id].splitlines()[-lines:])

    def require_report(self, server, report):
        if report not in self.consoles[server.id]:
            raise NotYet(report)

    def notice(self, server, text):
        self.faults.around(lambda: self._tell(server.id, text))

    def unlock(self, server):
        """None is locked."""

    def live_migrate(self, server, host):
        self._moving[server.id] = host
        self.faults.around(
            lambda: self._begin(server.id, "migrating", self._migrate, "live-migration")
        )

    def force_migration(self, server):
        """No guest here heeds it."""

    def create_image(self, server):
        """As its owner may at any time, however locked it is."""
        self._begin(server, "image_uploading", self._place)

    def delete(self, server):
        self.faults.around(lambda: self._begin(server.id, "deleting", self._remove))

    def delete_trust(self, job):
        """There is no Keystone, and so no trust."""

    def delete_server_group(self, job):
        self.groups.discard(job.uuid)

    # What goes on in Nova

    def work(self):
        """Some of what is under way ends."""
        self._free_what_was_left()
        for server, end in list(self._under_way.items()):
            stuck = server in self.stuck and self.fleet[server].task != "deleting"
            if not stuck and self.random.random() < 0.6:
                del self._under_way[server]
                end(server)

    def guest_stops(self, server):
        if server in self.fleet and self.fleet[server].status == "ACTIVE":
            self._begin(server, "powering-off", self._power_off, "stop")

    def host_reboots(self, host):
        """Faster than `service_down_time`; nova-compute then sees that its guests are off."""
        self.boots[host] = self.clock()
        for server in self.servers():
            if server.host == host and server.status == "ACTIVE":
                self._under_way.pop(server.id, None)
                self._change(server.id, status="SHUTOFF", power_state=SHUT_DOWN)
                self.log(server.id, "stop")

    def evacuate(self, server, host):
        """To another host, where it is left off (microversion 2.95); the old claim stays."""
        self.log(server, "evacuate")
        left = self._held(server)
        self._claim(self.fleet[server], host=host)
        self._write(server, {**left, **self._held(server)})
        self._change(server, status="SHUTOFF")

    def log(self, server, action, failed=False):
        self.actions[server].insert(0, InstanceAction(action, self.clock(), failed))

    def _begin(self, server, task, end, action=""):
        if server not in self.fleet:
            raise CloudError("404")
        if self.fleet[server].task and task != "deleting":
            raise CloudError("409: busy")
        self._change(server, task=task, keep_task=True)
        if action:
            self.log(server, action)
        if self.losses[action]:
            self.losses[action] -= 1
            self.lost.add(server)
        else:
            self.lost.discard(server)
            self._under_way[server] = end

    def _failed(self, server):
        """What was done last to a server failed."""
        last, *before = self.actions[server]
        self.actions[server] = [dataclasses.replace(last, failed=True), *before]

    def _change(self, server, keep_task=False, task=None, **values):
        self.fleet[server] = dataclasses.replace(self.fleet[server], task=task, **values)
        if task is None and keep_task:
            raise AssertionError("a task has a name")

    def _place(self, server):
        self._change(server, status="ACTIVE", power_state=RUNNING)

    def _fail(self, server):
        self._change(server, status="ERROR", fault="No valid host was found.")

    def _suspend(self, server):
        self._change(server, status="SUSPENDED")

    def _tell(self, server, text):
        if server in self.fleet:
            self._change(server, task=self.fleet[server].task, notice=text or "")

    def _power_off(self, server):
        self._change(server, status="SHUTOFF", power_state=SHUT_DOWN)

    def _power_on(self, server):
        if server in self.unstartable:
            self._failed(server)
            self._change(server, status="SHUTOFF")
        else:
            self._change(server, status="ACTIVE", power_state=RUNNING)

    def _offload(self, server):
        if server in self.unshelvable:
            # Its guest is off by then, which nova-compute sees.
            self._failed(server)
            self.log(server, "stop")
            self._power_off(server)
            return
        self._unclaim(server)
        self._change(server, status="SHELVED_OFFLOADED", host=None)

    def _restore(self, server, host=None):
        if self._claim(self.fleet[server], host):
            self._change(server, status="ACTIVE", power_state=RUNNING)
        else:
            self._change(server, status="SHELVED_OFFLOADED")

    def _migrate(self, server):
        before = self._held(server)
        old = self.fleet[server].host
        self._unclaim(server)
        if not self._claim(self.fleet[server], host=self._moving[server], other_than=old):
            self._write(server, before)
            self._change(server, status="ACTIVE", host=old)
        else:
            self._change(server, status="ACTIVE")
            if self.lingers:
                migration = str(uuid.uuid4())
                self._write(migration, before)
                self._lingering[migration] = self.lingers

    def _free_what_was_left(self):
        for migration, rounds in list(self._lingering.items()):
            self._lingering[migration] = rounds - 1
            if not rounds:
                self._unclaim(migration)
                del self._lingering[migration]

    def _remove(self, server):
        self._unclaim(server)
        del self.fleet[server]

    def _claim(self, server, host=None, other_than=None):
        """Schedule: the tier of the job's entry, the least loaded host; whether there was room."""
        tier = reading.wanted_tier(self.placement.get(f"/allocations/{server.job}"))
        views = reading.host_views(self.placement.get(reading.CANDIDATES_URL))
        near = self.near.get(server.job, "") if server.task == "scheduling" else ""
        candidates = (
            sorted(
                (views[root].load_beside(tier, 0), name)
                for name, root in self.roots.items()
                if root in views
                and views[root].tier(tier).free
                and name != other_than
                and name not in self.down
                and name not in self.disabled
                and host in (None, name)
                and _is_near(names.child_uuid(root, Tier(tier)), near)
            )
            if tier
            else []
        )
        for _load, name in candidates:
            root = self.roots[name]
            child = names.child_uuid(root, Tier(tier))
            try:
                self._write(server.id, {root: {"VCPU": 1}, child: {names.SLOT: 1}})
            except Conflict:
                continue
            self.fleet[server.id] = dataclasses.replace(self.fleet[server.id], host=name)
            return True
        return False

    def _unclaim(self, server):
        if self.placement.get(f"/allocations/{server}")["allocations"]:
            self._write(server, {})

    def _held(self, server):
        held = self.placement.get(f"/allocations/{server}")["allocations"]
        return {rp: entry["resources"] for rp, entry in held.items()}

    def _write(self, server, resources):
        current = self.placement.get(f"/allocations/{server}")
        self.placement.post(
            "/allocations",
            {
                server: {
                    "allocations": {rp: {"resources": amount} for rp, amount in resources.items()},
                    "project_id": "project",
                    "user_id": "user",
                    "consumer_generation": current.get("consumer_generation"),
                    "consumer_type": names.VM_CONSUMER,
                }
            },
        )


def _is_near(provider, near):
    """Whether the hint of a boot allows a provider, see `tier_request`."""
    kind, _colon, listed = near.partition(":")
    named = any(provider.startswith(each) for each in listed.split(",") if each)
    return not near or named is (kind == "only")
