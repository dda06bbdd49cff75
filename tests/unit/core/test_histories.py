"""What every policy keeps through any history: jobs come and go, hosts shrink, runs are pinned."""

import unittest

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from nova_twotier.core import policies
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.snapshot import Event
from tests.unit.core.builders import FG, bandwidth, estimate, utilisation
from tests.unit.core.driver import Driver, promise

ALL = Event.ARRIVAL | Event.BACKGROUND | Event.FOREGROUND

#: Most are smaller than a cluster; those of the whole of it are the ones that preempt.
sizes = st.one_of(st.integers(1, 3), st.integers(1, 16))
cpus = st.lists(utilisation, min_size=1, max_size=2)
positions = st.lists(st.integers(0, 9), min_size=1, max_size=4)


class History(RuleBasedStateMachine):
    policy = ""

    @initialize(
        shapes=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4),
        nodes=st.integers(0, 6),
    )
    def begin(self, shapes, nodes):
        """A cluster of hosts, or of so many nodes of one slot."""
        self.case = unittest.TestCase()  # for its assertions
        self.number = 0
        self.shapes = [Host(f"host{n}", *shape) for n, shape in enumerate(shapes)]
        self.general = nodes < 2
        self.driver = Driver(self.case, self.policy, self.shapes if self.general else Nodes(nodes))
        self.room = self.driver.cluster.idle[FG]

    @rule(drawn=st.lists(st.tuples(sizes, cpus, estimate, bandwidth), min_size=1, max_size=4))
    def arrive(self, drawn):
        self.decided(self.driver.arrive(*self.jobs(drawn)), Event.ARRIVAL)

    @rule(chosen=positions)
    def depart(self, chosen):
        if numbers := self.running(chosen):
            event = self.freed(numbers)
            self.decided(self.driver.depart(*numbers), event)

    @rule(
        drawn=st.lists(st.tuples(sizes, cpus, estimate, bandwidth), min_size=1, max_size=3),
        chosen=positions,
    )
    def arrive_and_depart(self, drawn, chosen):
        numbers = self.running(chosen)
        event = Event.ARRIVAL | self.freed(numbers)
        self.decided(self.driver.at_once(self.jobs(drawn), numbers), event)

    @rule(event=st.sampled_from([Event(bits) for bits in range(8)]))
    def nothing(self, event):
        """A look at a cluster where nothing has happened."""
        self.decided(self.driver.decide(event), event)

    @precondition(lambda self: self.general)
    @rule(position=st.integers(0, 3), slots=st.integers(1, 4), enabled=st.booleans())
    def change_host(self, position, slots, enabled):
        hosts = list(self.driver.cluster.hosts)
        position %= len(hosts)
        slots = min(slots, self.shapes[position].slots)
        hosts[position] = Host(hosts[position].name, slots, hosts[position].tiers, enabled)
        self.rebuild(hosts, lambda run: run)
        self.decided(self.driver.decide(Event.FOREGROUND), Event.FOREGROUND)

    @precondition(lambda self: self.general)
    @rule(chosen=positions)
    def pin(self, chosen):
        """Runs are about to be there, or to leave; no policy touches them meanwhile."""
        numbers = self.running(chosen)
        self.rebuild(
            self.driver.cluster.hosts,
            lambda run: run._replace(pinned=True) if run.job.number in numbers else run,
        )

    @precondition(lambda self: self.general)
    @rule()
    def unpin(self):
        """As the manager reports that starts are over."""
        self.rebuild(self.driver.cluster.hosts, lambda run: run._replace(pinned=False))
        self.decided(self.driver.decide(ALL), ALL)

    def teardown(self):
        """Every host takes VMs again; then all jobs end, one after the other."""
        if hasattr(self, "driver"):
            if self.general:
                self.rebuild(self.shapes, lambda run: run._replace(pinned=False))
                self.decided(self.driver.decide(ALL), ALL)
            self.driver.finish()
            assert len(self.driver.finished) == self.number

    def rebuild(self, hosts, change):
        fresh = Hosts(hosts)
        for run in self.driver.cluster.runs.values():
            fresh.adopt(change(run))
        self.driver.cluster = fresh

    def jobs(self, drawn):
        made = []
        for size, cpu, expected, mbps in drawn:
            self.number += 1
            size = min(size, self.room)
            cpu = [cpu[index % len(cpu)] for index in range(size)]
            arrival = self.driver.clock - self.number % 2 * 10
            made.append(Job(self.number, size, arrival, tuple(cpu), expected, mbps=mbps))
        return made

    def running(self, chosen):
        running = sorted(self.driver.cluster.runs)
        return sorted({running[position] for position in chosen if position < len(running)})

    def freed(self, numbers):
        event = Event(0)
        for number in numbers:
            tier = self.driver.cluster.runs[number].tier
            event |= Event.FOREGROUND if tier is FG else Event.BACKGROUND
        return event

    def decided(self, actions, event):
        promise(self.driver, actions, event)


def history_of(name):
    machine = type(f"History{name}", (History,), {"policy": name})
    case = machine.TestCase
    case.settings = settings(
        max_examples=25,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    return case


for _name in policies.POLICIES:
    _case = history_of(_name)
    _case.__name__ = _case.__qualname__ = f"Test{_name.title().replace('-', '')}"
    _case.__module__ = __name__
    globals()[_case.__name__] = _case
del _case
