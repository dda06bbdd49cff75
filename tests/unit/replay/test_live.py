"""What a replay shows while it runs."""

import types

import testtools

from nova_twotier.core.actions import Tier
from nova_twotier.tools.replay.live import describe
from nova_twotier.tools.replay.recorder import Happening, Kind
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.workload import ReplayJob


class TestDescribing(testtools.TestCase):
    def test_number_and_name(self):
        """The charts and the manager's log have the number, the trace has the name."""
        job = ReplayJob(15, "my-15", submit=0, runtime=1, estimate=None, size=3, cpu=(1, 1, 1))
        roster = Roster()
        roster.add(Entry(25, "uuid", job))
        happening = Happening(at=31.2, job=25, kind=Kind.SWAP, tier=Tier.FG, vms=3)
        self.assertEqual(
            "   31 s  job 25 (my-15) swaps to fg (3 VMs)",
            describe(happening, types.SimpleNamespace(roster=roster)),
        )
