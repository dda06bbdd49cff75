"""What was written is read again, whole; what contradicts itself is refused, in a sentence."""

import copy
import json

import testtools
from hypothesis import given

from nova_twotier.core.queue_state import InvalidState, anonymous, dump, load, text
from nova_twotier.core.queue_state.data import VERSION
from tests.unit.core.queue_state.builders import small, states


class TestRoundTrip(testtools.TestCase):
    @given(states())
    def test_every_state(self, state):
        self.assertEqual(state, load(json.loads(text(state))))

    @given(states())
    def test_no_names_are_left(self, state):
        hidden = anonymous(state)
        written = text(hidden)
        for name in ("ann", "bob", "node ", "gpu"):
            self.assertNotIn(name, written)
        back = load(json.loads(written))
        owners = [
            (each.user, other.user) for each, other in zip(state.jobs, back.jobs, strict=True)
        ]
        # The same owners are the same still.
        self.assertEqual(len(set(owners)), len({before for before, _after in owners}))
        self.assertEqual(len(set(owners)), len({after for _before, after in owners}))

    def test_text(self):
        self.assertEqual(
            """\
{
 "format": "nova-twotier queue state",
 "version": 1,
 "pool": "",
 "at": 50.0,
 "policy": "easy",
 "deadline_factor": 1.0,
 "threshold": 0.96,
 "migration_cost": 20.0,
 "hosts": [
  {"name": "a", "slots": 2, "tiers": 2},
  {"name": "b", "slots": 2, "tiers": 2}
 ],
 "jobs": [
  {"number": 1, "size": 3, "arrival": 1.0, "cpu": 0.5, "estimate": 150.0, "user": "ann", \
"done": 50.0, "tier": "fg", "hosts": ["a", "a", "b"]},
  {"number": 2, "size": 2, "arrival": 2.0, "cpu": 0.5, "estimate": 60.0, "user": "bob"}
 ],
 "servers": [],
 "past": [],
 "calibration": null
}
""",
            text(small()),
        )


class TestRefused(testtools.TestCase):
    def refused(self, message, change):
        data = copy.deepcopy(dump(small()))
        change(data)
        error = self.assertRaises(InvalidState, load, data, "q.json")
        self.assertEqual(f"q.json{message}", str(error))

    def test_not_a_state(self):
        for data in ([], None, "x"):
            error = self.assertRaises(InvalidState, load, data, "q.json")
            self.assertEqual("q.json is not an object with fields", str(error))
        message = (
            " is no state of a queue: its format is '', not 'nova-twotier queue state'; give what "
            "`twotier-manage snapshot` wrote"
        )
        self.refused(message, lambda data: data.pop("format"))
        other = VERSION + 1
        self.refused(
            f" is of version {other}, and this release reads version {VERSION}: write it anew with "
            "this release, or read it with the one that wrote it",
            lambda data: data.update(version=other),
        )

    def test_fields(self):
        for message, change in (
            (": at is missing", lambda data: data.pop("at")),
            (": at is 'now'; it must be a number from 0", lambda data: data.update(at="now")),
            (": at is nan; it must be a number from 0", lambda data: data.update(at=float("nan"))),
            (": there is no field 'size'", lambda data: data.update(size=1)),
            (": hosts is {}; it must be a list", lambda data: data.update(hosts={})),
            (
                ": threshold is 96; it must be a number from 0 to 1",
                lambda data: data.update(threshold=96),
            ),
            (
                ": hosts[0]: slots is 1.5; it must be a whole number from 0",
                lambda data: data["hosts"][0].update(slots=1.5),
            ),
            (
                ": jobs[0]: size is True; it must be a whole number from 1",
                lambda data: data["jobs"][0].update(size=True),
            ),
            (
                ": jobs[1]: cpu is 2.0; give the share of a CPU a process uses, 0 to 1",
                lambda data: data["jobs"][1].update(cpu=2),
            ),
            (
                ": jobs[1]: cpu has 3 values for 2 processes; give one, or one each",
                lambda data: data["jobs"][1].update(cpu=[0.1, 0.2, 0.3]),
            ),
            (
                ": jobs[1]: estimate is -1; it must be a number from 0",
                lambda data: data["jobs"][1].update(estimate=-1),
            ),
            (
                ": jobs[1]: the job may run in neither tier; allow it one of them",
                lambda data: data["jobs"][1].update(foreground=False, background=False),
            ),
            (
                ": jobs[0]: tier is 'top'; it must be fg or bg",
                lambda data: data["jobs"][0].update(tier="top"),
            ),
            (
                ": calibration: starts is missing",
                lambda data: data.update(calibration={"estimator": "sdpn"}),
            ),
        ):
            self.refused(message, change)
        self.assertIn("policy is 'sjf'; it must be one of: acfcfs, amb", self.message(policy="sjf"))

    def message(self, **fields):
        return str(self.assertRaises(InvalidState, load, dump(small()) | fields))

    def test_contradictions(self):
        for message, change in (
            (
                ": jobs[0]: there is no host 'c'",
                lambda data: data["jobs"][0].update(hosts=[*"aac"]),
            ),
            (
                ": jobs[0]: job 1 has 3 processes on 2 hosts; name the host of each process",
                lambda data: data["jobs"][0].update(hosts=["a", "b"]),
            ),
            (
                ": jobs[1]: job 2 has hosts and no tier",
                lambda data: data["jobs"][1].update(hosts=["b", "b"]),
            ),
            (": host a is there twice", lambda data: data["hosts"][1].update(name="a")),
            (": job 1 is there twice", lambda data: data["jobs"][1].update(number=1)),
            (
                ": a slot is given twice: host a has 2 places in fg, and 3 processes hold one",
                lambda data: data["servers"].append({"host": "a", "tier": "fg"}),
            ),
            (
                ": a slot is given twice: host b has 0 places in bg, and 1 processes hold one",
                lambda data: (
                    data["hosts"][1].update(tiers=1),
                    data["servers"].append({"host": "b", "tier": "bg"}),
                ),
            ),
        ):
            self.refused(message, change)
