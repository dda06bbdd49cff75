"""What processes find of the slots that they share: as if all hosts were arranged anew."""

import math

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.neighbours import Neighbours
from nova_twotier.core.slots import arrange
from tests.unit.core.builders import BG, FG, utilisation

FLOOR = 0.04
HOSTS = 3


def found_on_arranged_hosts(cluster, jobs):
    """What each process finds, by job; `jobs` are tier, hosts, known and own utilisations."""
    found = {number: [math.inf] * len(hosts) for number, (_tier, hosts, *_) in jobs.items()}
    for host, spec in enumerate(cluster.hosts):
        there = {FG: {}, BG: {}}
        for number, (tier, hosts, known, _own) in sorted(jobs.items()):
            for index, at in enumerate(hosts):
                if at == host:
                    there[tier][number, index] = known[index]
        slots = max(spec.slots, len(there[FG]))
        for slot in arrange(slots, there[FG], there[BG], cluster.threshold):
            above = [] if slot.fg is None else [slot.fg]
            if above and slot.bg:
                number, index = slot.fg
                found[number][index] = 1.0
            left = 1.0
            for position, (number, index) in enumerate((*above, *slot.bg)):
                if position:
                    found[number][index] = max(left, FLOOR)
                left -= jobs[number][3][index]
    return found


def matters(tier, before, idle):
    """Whether it matters to a job that its processes find this; None before: it has come."""
    if before is None or tier is BG:
        return idle != before
    return (min(idle) < math.inf) is not (min(before) < math.inf)


@st.composite
def occupants(draw):
    """A job on hosts, with its known and its own utilisations."""
    size = draw(st.integers(1, 6))
    cpus = st.lists(utilisation, min_size=size, max_size=size)
    hosts = draw(st.lists(st.integers(0, HOSTS - 1), min_size=size, max_size=size))
    return draw(st.sampled_from((FG, BG))), hosts, draw(cpus), draw(cpus)


class TestNeighbours(testtools.TestCase):
    @settings(max_examples=300)
    @given(
        st.lists(st.integers(1, 5), min_size=HOSTS, max_size=HOSTS),
        st.sampled_from((0.5, 0.96, 2.0)),
        st.data(),
    )
    def test_as_if_all_hosts_were_arranged_anew(self, slots, threshold, data):
        cluster = Hosts([Host(f"host{n}", count) for n, count in enumerate(slots)], threshold)
        neighbours, jobs, seen, there = Neighbours(cluster, FLOOR), {}, {}, {}
        for _pass in range(data.draw(st.integers(1, 6))):
            # Jobs may leave and come back in one pass, as those that change their tier.
            for number in data.draw(st.lists(st.integers(1, 6), max_size=8)):
                if number in jobs:
                    neighbours.leave(number)
                    del jobs[number]
                    seen.pop(number, None)
                else:
                    jobs[number] = data.draw(occupants())
                    neighbours.come(number, *jobs[number])
            told = {each.number: each for each in neighbours.changed()}
            there |= told
            found = found_on_arranged_hosts(cluster, jobs)
            self.assertEqual(found, {number: there[number].idle for number in jobs})
            for number, idle in found.items():
                sharing = sum(each < math.inf for each in idle)
                self.assertEqual(sharing, there[number].sharing)
                tier, before = jobs[number][0], seen.get(number)
                if matters(tier, before, idle):
                    self.assertIn(number, told)
                elif tier is BG or idle == before:
                    self.assertNotIn(number, told, "told without need")
            seen = found

    def neighbours(self, *jobs):
        """Jobs of one process each, of a tier and a utilisation, on one host of two slots."""
        told = Neighbours(Hosts([Host("host", 2)]), FLOOR)
        for number, (tier, cpu) in enumerate(jobs, 1):
            told.come(number, tier, [0], [cpu], [cpu])
        return told

    def shares(self, neighbours):
        return {each.number: each.sharing > 0 for each in neighbours.changed()}

    def test_the_hottest_in_the_background_has_the_empty_slot(self):
        made = self.neighbours((FG, 0.5), (BG, 0.3), (BG, 0.6))
        self.assertEqual({1: True, 2: True, 3: False}, self.shares(made))
        made.leave(3)
        self.assertEqual({1: False, 2: False}, self.shares(made))

    def test_only_what_has_changed_is_told(self):
        made = self.neighbours((FG, 0.5), (FG, 0.25), (BG, 0.3))
        # The job in the background is beside the cooler one of the foreground.
        self.assertEqual({1: False, 2: True, 3: True}, self.shares(made))
        self.assertEqual({}, self.shares(made))
        made.come(4, BG, [0], [0.1], [0.1])
        self.assertEqual({1: True, 4: True}, self.shares(made))
