"""What the manager tells a policy when an action is done."""

import testtools

from nova_twotier.core.actions import Tier
from nova_twotier.core.snapshot import Event
from nova_twotier.db.models import Action
from nova_twotier.db.plans import StartPlan, SwapPlan
from nova_twotier.db.states import ActionKind
from nova_twotier.manager.decision import ALL, caused


class TestCaused(testtools.TestCase):
    def test_start(self):
        """A job that has started can be moved and evicted from then on."""
        for tier in Tier:
            done = Action(kind=ActionKind.START, job=1, plan=StartPlan(tier, "immediate"))
            self.assertEqual(ALL, caused(done, {}), tier)

    def test_swap(self):
        self.assertEqual(Event(0), caused(Action(kind=ActionKind.SWAP, plan=SwapPlan(())), {}))
