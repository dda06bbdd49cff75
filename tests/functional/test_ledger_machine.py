"""Whatever happens to hosts, VMs and jobs, and in any order: the ledger says what a model says."""

import os
import uuid
from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, names, shape, tree
from nova_twotier.ledger.placement import Conflict, NotFound, PlacementError
from tests.functional.ledger_case import BG, FG, PROJECT, USER, LedgerTestCase

#: More of them find more, and not the same ones each time:
#: `TWOTIER_TEST_EXAMPLES=300 pytest tests/functional/test_ledger_machine.py`.
EXAMPLES = int(os.environ.get("TWOTIER_TEST_EXAMPLES", "6"))
STEPS = 20
RACK = "core/rack"

hosts = st.integers(0, LedgerTestCase.HOSTS - 1)
tiers = st.sampled_from(Tier)
index = st.integers(0, 99)


class Machine(RuleBasedStateMachine):
    """The model: VMs with host and tier, jobs, shapes, withheld places, and links."""

    def __init__(self, case):
        super().__init__()
        self.case, self.ledger = case, case.ledger
        self.shapes = {}
        self.withheld = Counter()
        self.vms = {}
        self.jobs = {}
        self.links = {}
        for host in range(case.HOSTS):
            self.shapes[host] = tree.Shape(2, 2, RACK, (100, 300))
        self.sync()
        for tier in Tier:
            self.claim(0, tier)
        self.admit(None, FG, 2, {"host0": 40, RACK: 70})

    def sync(self):
        found = {f"host{host}": shape for host, shape in self.shapes.items()}
        self.tiers = tree.sync_hosts(self.ledger, found)
        wanted, _problems = shape.capacities(found)
        used = self.link_use()
        self.links = {link: mbps for link, mbps in self.links.items() if used[link]} | wanted

    def change_host(self, host):
        """A sync does it, a second one nothing; each place is there for the next VM, or is not."""
        self.sync()
        before = self.case.generations(), self.tiers
        self.sync()
        assert before == (self.case.generations(), self.tiers)
        there = {*self.shapes, *(host for host, _tier in self.vms.values())}
        assert [host.name for host in self.tiers] == [f"host{host}" for host in sorted(there)]
        for tier in Tier:
            vm = self.try_to_claim(host, tier)
            if vm:
                self.case.delete(vm)
                del self.vms[vm]

    # What the model says

    def used(self, host, tier):
        return sum(place == (host, tier) for place in self.vms.values())

    def room(self, host, tier):
        if host not in self.shapes:
            return 0
        places = self.shapes[host].places(tier) - (self.withheld[host] if tier is BG else 0)
        return max(0, places - self.used(host, tier))

    def link_use(self):
        use = Counter()
        for _tier, _size, links in self.jobs.values():
            use.update(links)
        return use

    def a_vm(self, number, *wanted):
        found = sorted(vm for vm, place in self.vms.items() if place in wanted or not wanted)
        return found[number % len(found)] if found else None

    # Hosts

    @rule(
        host=hosts,
        slots=st.integers(1, 3),
        levels=st.integers(1, 3),
        uplinks=st.sampled_from([(), (100,), (100, 300), (200, 300)]),
    )
    def join_or_change(self, host, slots, levels, uplinks):
        before = self.shapes.get(host)
        self.shapes[host] = tree.Shape(slots, levels, RACK, uplinks)
        kept = self.withheld[host] if before and before.places(BG) else 0
        self.withheld[host] = min(kept, self.shapes[host].places(BG))
        self.change_host(host)

    @rule(host=hosts)
    def leave(self, host):
        self.shapes.pop(host, None)
        self.withheld[host] = 0
        self.change_host(host)

    @precondition(lambda self: self.tiers)
    @rule(number=index, closed=st.integers(0, 4))
    def close(self, number, closed):
        host = self.tiers[number % len(self.tiers)]
        tree.set_closed(self.ledger, host, closed)
        key = int(host.name.removeprefix("host"))
        if key in self.shapes:
            closed = min(closed, host.shape.slots)
            self.withheld[key] = closed * (host.shape.tiers - 1)
        self.change_host(key)

    # VMs

    @rule(host=hosts, tier=tiers)
    def claim(self, host, tier):
        self.try_to_claim(host, tier)

    def try_to_claim(self, host, tier):
        """The VM that got a place, as it does exactly when the model has one."""
        try:
            vm = self.case.claim(host, tier)
        except PlacementError:  # 400 if the host has no providers at all
            assert not self.room(host, tier)
            return None
        assert self.room(host, tier)
        self.vms[vm] = (host, tier)
        return vm

    @precondition(lambda self: self.vms)
    @rule(number=index)
    def delete(self, number):
        vm = self.a_vm(number)
        self.case.delete(vm)
        host, _tier = self.vms.pop(vm)
        if host not in self.shapes:
            self.change_host(host)

    @precondition(lambda self: self.vms)
    @rule(number=index, other=st.none() | index)
    def swap(self, number, other):
        """One VM goes to the other tier; perhaps one there comes in exchange."""
        vm = self.a_vm(number)
        host, tier = self.vms[vm]
        changes = {vm: (host, tier.other)}
        exchanged = None if other is None else self.a_vm(other, (host, tier.other))
        if exchanged:
            changes[exchanged] = (host, tier)
        jobs = {each: str(uuid.uuid4()) for each in changes}
        swaps = [claims.Swap(jobs[each], 1, changes[each][1], (each,)) for each in changes]
        try:
            claims.swap(self.ledger, self.tiers, swaps, PROJECT, USER)
        except Conflict:
            assert not exchanged
            assert not self.room(host, tier.other)
        else:
            assert exchanged or self.room(host, tier.other)
            self.vms.update(changes)
            self.jobs.update({jobs[each]: (changes[each][1], 1, {}) for each in changes})

    @precondition(lambda self: self.vms)
    @rule(number=index, points=st.integers(0, 100))
    def say_points(self, number, points):
        claims.set_cpu_points(self.ledger, self.tiers, {self.a_vm(number): points})

    # Jobs

    @rule(
        number=st.none() | index,
        tier=tiers,
        size=st.integers(1, 9),
        links=st.dictionaries(
            st.sampled_from(["host0", "host1", RACK]), st.sampled_from([40, 70, 150]), max_size=3
        ),
    )
    def admit(self, number, tier, size, links):
        known = sorted(self.jobs)
        job = known[number % len(known)] if known and number is not None else str(uuid.uuid4())
        before = self.link_use()
        after = before - Counter(self.jobs[job][2] if job in self.jobs else {}) + Counter(links)
        try:
            self.case.admit(tier, size, job, links=links)
        except NotFound:
            assert not links.keys() <= self.links.keys()
        except Conflict:
            assert any(after[each] > max(self.links.get(each, 0), before[each]) for each in links)
        else:
            assert all(after[each] <= max(self.links[each], before[each]) for each in links)
            self.jobs[job] = (tier, size, links)

    @precondition(lambda self: self.jobs)
    @rule(number=index, tier=tiers)
    def move(self, number, tier):
        job = sorted(self.jobs)[number % len(self.jobs)]
        swap = claims.Swap(job, self.jobs[job][1], tier, ())
        claims.swap(self.ledger, (), [swap], PROJECT, USER)
        self.jobs[job] = (tier, *self.jobs[job][1:])

    @precondition(lambda self: self.jobs)
    @rule(number=index)
    def release(self, number):
        job = sorted(self.jobs)[number % len(self.jobs)]
        claims.release(self.ledger, job)
        del self.jobs[job]

    # What holds at every moment

    @invariant()
    def ledger_is_as_the_model(self):
        found = claims.read_claims(self.ledger, self.tiers)
        held = {
            vm: (int(claim.host.removeprefix("host")), claim.tier) for vm, [claim] in found.items()
        }
        assert held == self.vms
        entries = claims.read_jobs(self.ledger)
        assert {each.uuid: (each.tier, each.size, each.links) for each in entries} == self.jobs

    def teardown(self):
        """Nothing is left when everybody has gone."""
        for vm in self.vms:
            self.case.delete(vm)
        for job in self.jobs:
            claims.release(self.ledger, job)
        assert tree.sync_hosts(self.ledger, {}) == []
        roots = {f"host{host}" for host in range(LedgerTestCase.HOSTS)}
        assert set(self.case.generations()) == {*roots, names.JOBS_PROVIDER}
        for root in [*self.case.roots, names.jobs_uuid()]:
            assert not any(self.ledger.get(f"/resource_providers/{root}/usages")["usages"].values())


class TestMachine(LedgerTestCase):
    def test_any_order(self):
        run(
            lambda: Machine(self),
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                derandomize="TWOTIER_TEST_EXAMPLES" not in os.environ,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
