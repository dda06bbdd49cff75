"""What the manager tells a policy when an action is done."""

import testtools

from nova_twotier.core.snapshot import Event
from nova_twotier.manager.db.models import Action, ActionKind
from nova_twotier.manager.engine import ALL, caused


class TestCaused(testtools.TestCase):
    def test_start(self):
        """A foreground job that has started can be evicted from then on."""
        for tier, event in (("fg", ALL), ("bg", Event.BACKGROUND)):
            done = Action(kind=ActionKind.START, job=1, plan={"tier": tier})
            self.assertEqual(event, caused(done, {}), tier)

    def test_swap(self):
        self.assertEqual(Event(0), caused(Action(kind=ActionKind.SWAP, plan={}), {}))
