"""What the manager tells a policy when an action is done."""

from nova_twotier.core.actions import Tier
from nova_twotier.core.snapshot import Event
from nova_twotier.db.plans import EndPlan, EvictPlan, StartPlan
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.events import ALL
from tests.unit.manager.builders import BY_NINE, action, job
from tests.unit.manager.decision_case import DecisionCase, waiting


class TestCaused(DecisionCase):
    def test_start(self):
        """A job that has started can be moved and evicted from then on."""
        for tier in Tier:
            done = action(ActionKind.START, plan=StartPlan(tier, "immediate"))
            self.assertEqual(ALL, self.decisions().events.caused(done, {}), tier)

    def test_what_made_room_as_was_decided(self):
        for kind in (ActionKind.EVICT, ActionKind.SWAP, ActionKind.MIGRATE):
            self.assertEqual(Event(0), self.decisions().events.caused(action(kind), {}), kind)

    def test_who_was_saved_or_begins_anew_unlike_decided(self):
        """The policy thinks that it runs elsewhere."""
        events = self.decisions().events
        unmoved = action(ActionKind.EVICT, plan=EvictPlan(BY_NINE, unmoved=True))
        self.assertEqual(ALL, events.caused(unmoved, {}))
        for kind in (ActionKind.EVICT, ActionKind.MIGRATE):
            self.assertEqual(ALL, events.caused(action(kind, escalated_at=50.0), {}), kind)

    def test_who_ends_frees_slots_and_who_begins_anew_is_back_in_the_queue(self):
        events = self.decisions().events
        for then, caused in ((JobState.FINISHED, Event.BACKGROUND), (JobState.QUEUED, ALL)):
            one = job(state=JobState.ENDING, tier=Tier.BG)
            end = action(ActionKind.END, one, EndPlan(then, None, 90.0))
            self.assertEqual(caused, events.caused(end, {one.number: one}), then)

    def test_what_made_room_while_others_were_decided_upon(self):
        """Those did not see what it has left over."""
        decisions = self.decisions()
        self.ask(decisions, [waiting(number=1, size=1)], now=50.0)
        for kind in (ActionKind.EVICT, ActionKind.SWAP, ActionKind.MIGRATE):
            made_room = action(kind)
            made_room.created_at = 40.0
            self.assertEqual(ALL, decisions.events.caused(made_room, {}), kind)
            made_room.created_at = 50.0
            self.assertEqual(Event(0), decisions.events.caused(made_room, {}), kind)
