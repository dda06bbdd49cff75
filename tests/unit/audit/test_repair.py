"""Repair goes on look by look, phase by phase, and says of everything what became of it."""

import functools
import types

import testtools

from nova_twotier.audit import repair as repair_module
from nova_twotier.audit.comparison import compare
from nova_twotier.audit.findings import Kind
from nova_twotier.audit.reading import lasting
from nova_twotier.audit.repair import PASSES, PHASES, Left, Repairer, repair
from nova_twotier.cloud.errors import CloudError
from nova_twotier.ledger.claims import JobEntry
from nova_twotier.ledger.placement import (
    Conflict,
    NotFound,
    PlacementError,
    PlacementUnavailable,
)
from tests.unit.audit.builders import BG, FG, agreeing, but, claim, host, migration, vm

LOW = claim("j/0", "a", BG)
STRAY = [claim("x", "b", BG)]


class Looks:
    """A cloud that looks otherwise each time, and the last way for ever."""

    def __init__(self, *states):
        self.states = list(states)
        self.paused = []

    def state(self):
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


class TestLasting(testtools.TestCase):
    def found(self, *states):
        looks = Looks(*states)
        _state, found = lasting(looks.state, 1.5, looks.paused.append)
        return [finding.subject for finding in found], looks.paused

    def test_two_looks(self):
        stray, low = but(claims={"x": STRAY}), but(claims={"j/0": [LOW]})
        both = but(claims={"x": STRAY, "j/0": [LOW]})
        for states, expected in (
            ([agreeing()], ([], [])),
            ([stray, agreeing()], ([], [1.5])),
            ([stray, low], ([], [1.5])),
            ([stray, both], (["x"], [1.5])),
            ([both, both], (["x", "j/0"], [1.5])),
        ):
            self.assertEqual(expected, self.found(*states))

    def test_nova_of_another_cloud(self):
        none = but(vms={"j/0": None, "j/1": None, "other": vm("other")})
        error = self.assertRaises(CloudError, self.found, none)
        self.assertIn("Nova knows none of the 2 servers that hold slots", str(error))
        for known in (
            but(none, migrations=migration("j/0", "gone")),
            but(none, claims={"other": [claim("other")]}),
            but(none, claims={"j/0": None, "j/1": None}),
        ):
            self.assertNotEqual([], self.found(known)[0])


class TestRefusals(testtools.TestCase):
    """What the repairer makes of Placement's refusals."""

    def repairs(self, error):
        def refuse(*_args):
            raise error

        placement = types.SimpleNamespace(get=refuse, put=refuse, post=refuse)
        nova = types.SimpleNamespace(vm=lambda _uuid: None)
        stray = but(claims={"x": STRAY}, hosts={"c": host("c")})
        reader = types.SimpleNamespace(placement=placement, nova=nova, shapes=dict)
        for finding in compare(stray):
            yield functools.partial(Repairer(reader, stray).repair, finding)

    def test_refused(self):
        for error in (Conflict("no room"), PlacementError("not allowed", 403), NotFound("gone")):
            sync, drop = self.repairs(error)
            for attempt in (sync, drop):
                self.assertEqual(str(error), str(self.assertRaises(Left, attempt)))

    def test_no_answer(self):
        sync, drop = self.repairs(PlacementUnavailable("no answer"))
        for attempt in (sync, drop):
            self.assertRaises(PlacementUnavailable, attempt)


class RepairCase(testtools.TestCase):
    """The repairer is replaced: what it does to real Placement is for the functional tests."""

    def setUp(self):
        super().setUp()
        self.did = []
        self.refuses, self.possible, self.breaks = {}, set(), {}
        case = self

        class Repairer:
            def __init__(self, _reader, _state):
                pass

            def repair(self, finding):
                if finding.subject in case.breaks:
                    raise case.breaks[finding.subject]
                if finding.subject in case.refuses:
                    raise Left(case.refuses[finding.subject])
                case.did.append(finding.subject)

            def exchange(self, findings):
                subjects = {finding.subject for finding in findings}
                if subjects - case.possible:
                    raise Left("no room for all of them")
                case.did.append(subjects)

        self.patch(repair_module, "Repairer", Repairer)

    def repair(self, *states, kinds=tuple(Kind)):
        report = repair(Looks(*states), kinds, 0)
        left = {finding.subject: reason for finding, reason in report.left}
        return [finding.subject for finding in report.repaired], left


class TestRepair(RepairCase):
    def test_every_kind_has_its_phase(self):
        phased = [kind for phase in PHASES for kind in phase]
        self.assertEqual(sorted(Kind), sorted(phased))
        self.assertEqual(phased, sorted(phased, key=lambda kind: kind.order))

    def test_a_phase_at_a_time(self):
        both = but(claims={"x": STRAY, "j/0": [LOW]})
        low = but(claims={"j/0": [LOW]})
        repaired, left = self.repair(both, both, low, low, agreeing())
        self.assertEqual((["x", "j/0"], {}), (repaired, left))

    def test_only_some_kinds(self):
        both = but(claims={"x": STRAY, "j/0": [LOW]})
        low = but(claims={"j/0": [LOW]})
        repaired, left = self.repair(both, both, low, kinds={Kind.ORPHAN_CLAIM})
        self.assertEqual((["x"], {}), (repaired, left))

    def test_what_is_left_does_not_keep_others(self):
        both = but(claims={"x": STRAY, "j/0": [LOW]})
        self.refuses = {"x": "a server of this uuid lives"}
        repaired, left = self.repair(both, both, but(claims={"x": STRAY}))
        self.assertEqual((["j/0"], self.refuses), (repaired, left))

    def test_what_comes_back_is_mended_once(self):
        repaired, left = self.repair(but(claims={"x": STRAY}))
        self.assertEqual((["x"], ["x"]), (repaired, self.did))
        self.assertIn("came back", left["x"])

    def test_what_was_mended_before_the_cloud_went_away_is_told(self):
        both = but(claims={"x": STRAY, "y": [claim("y", "b", BG)]})
        for error in (CloudError("no answer"), PlacementUnavailable("no answer")):
            self.breaks = {"y": error}
            report = repair(Looks(both), set(Kind), 0)
            repaired = [finding.subject for finding in report.repaired]
            self.assertEqual((["x"], error), (repaired, report.trouble))
            self.breaks = {"x": error}
            self.assertRaises(type(error), repair, Looks(both), set(Kind), 0)

    def test_not_all_is_reached(self):
        """Each poll finds another one, without end."""
        ghosts = [but(claims={"j/0": [LOW], f"x{n}": STRAY}) for n in range(PASSES + 1)]
        looks = [state for state in ghosts for _twice in range(2)]
        repaired, left = self.repair(*looks)
        self.assertEqual(PASSES, len(repaired))
        reason = f"gave up after {PASSES} passes"
        self.assertEqual({"j/0": reason, f"x{PASSES}": reason}, left)
        _mended, left = self.repair(*looks, kinds={Kind.ORPHAN_CLAIM})
        self.assertEqual({f"x{PASSES}": reason}, left)

    def test_places_are_exchanged(self):
        """All at once; if one has no place at all, those of a host."""
        swapped = but(
            claims={"j/0": [LOW], "j/1": [claim("j/1", "b", BG)], "k": [claim("k", "a", FG)]},
            vms={"k": vm("k", "a", job="k")},
            entries={"k": JobEntry("k", BG, 1)},
            jobs=None,
        )
        self.assertEqual(3, len(compare(swapped)))
        self.refuses = dict.fromkeys(("j/0", "j/1", "k"), "no room")
        self.possible = {"j/0", "k"}
        repaired, left = self.repair(swapped, swapped, but(swapped, claims={"j/0": [claim("j/0")]}))
        self.assertEqual([{"j/0", "k"}], self.did)
        self.assertEqual({"j/0", "k"}, set(repaired))
        self.assertEqual("no room", left["j/1"])
