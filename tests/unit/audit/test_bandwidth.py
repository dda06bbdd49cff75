"""What an audit says of the bandwidth that entries hold."""

import testtools

from nova_twotier.audit.comparison import compare
from nova_twotier.audit.findings import Enter, Kind
from nova_twotier.ledger.claims import JobEntry
from nova_twotier.ledger.shape import Shape
from tests.unit.audit.builders import FG, agreeing, but, claim, record, vm

#: A VM on each of two hosts of different racks, the links of which are counted.
SHAPES = {"a": Shape(2, 2, "core/x", (1000,)), "b": Shape(2, 2, "core/y", (1000,))}
LINKS = {"a": 100, "b": 100, "core/x": 100, "core/y": 100}


def wide(links, **changes):
    """The job has 100 Mbit/s a VM, and its entry holds these links."""
    state = but(
        agreeing(), jobs={"j": record(mbps=100)}, entries={"j": JobEntry("j", FG, 2, links)}
    )
    return but(state, **{"shapes": SHAPES, **changes})


class TestBandwidth(testtools.TestCase):
    def entered(self, state):
        """The links that are written by what is found, if anything is."""
        found = compare(state)
        if not found:
            return None
        [finding] = found
        self.assertEqual(Kind.WRONG_ENTRY, finding.kind)
        self.assertIsInstance(finding.fix, Enter)
        return dict(finding.fix.links)

    def test_agrees(self):
        self.assertIsNone(self.entered(wide(LINKS)))
        self.assertIsNone(self.entered(wide({"a": 100, "b": 100}, shapes=flat())))

    def test_too_much_or_too_little(self):
        for links in ({}, {**LINKS, "a": 50}, {**LINKS, "core/z": 10}):
            self.assertEqual(LINKS, self.entered(wide(links)), links)

    def test_none_where_all_are_on_one_host(self):
        together = {"j/0": [claim("j/0", "a")], "j/1": [claim("j/1", "a")]}
        state = wide(LINKS, claims=together, vms={"j/1": vm("j/1", "a", index=1)})
        self.assertEqual({}, self.entered(state))

    def test_none_without_bandwidth(self):
        self.assertEqual({}, self.entered(wide(LINKS, jobs={"j": record()})))

    def test_stays_while_a_server_moves(self):
        moving = {"j/1": vm("j/1", "b", task="migrating", index=1)}
        self.assertIsNone(self.entered(wide({"a": 1}, vms=moving)))

    def test_says_what_is_held(self):
        [finding] = compare(wide({"a": 50}))
        self.assertEqual("2 in fg, 50 Mbit/s on a", finding.found)
        self.assertIn("2 in fg, 100 Mbit/s on a, 100 Mbit/s on b, ", finding.wanted)


def flat():
    """Both hosts at the root."""
    return dict.fromkeys("ab", Shape(2, 2, "", (1000,)))
