"""A run in which not all happened that should have shows nothing, and says so."""

import types

import testtools

from nova_twotier.tools.faults import outcome
from nova_twotier.tools.faults.scenarios import KILLS, SCENARIOS


class TestUntried(testtools.TestCase):
    def untried(self, scenario=KILLS, kills=4, deaths=0, requests=1000, spoiled=0, mishaps=()):
        return outcome.untried(
            scenario,
            4,
            [types.SimpleNamespace(kills=kills, deaths=deaths)],
            types.SimpleNamespace(requests=requests, spoiled=spoiled),
            [types.SimpleNamespace(happened=happened) for happened in mishaps],
        )

    def test_all_happened(self):
        self.assertEqual([], self.untried())
        self.assertEqual([], self.untried(SCENARIOS["nova"], spoiled=90, mishaps=[True]))

    def test_what_did_not(self):
        for values, text in (
            ({"kills": 3}, "manager killed only 3 times of 4"),
            ({"deaths": 1}, "died 1 times without being killed"),
            ({"scenario": SCENARIOS["nova"], "spoiled": 40}, "only 40 of 1000 requests"),
            ({"scenario": SCENARIOS["nova"], "requests": 0}, "only 0 of 0 requests"),
            ({"mishaps": [True, False]}, "did not happen"),
        ):
            [problem] = self.untried(**values)
            self.assertIn(text, problem)


class TestBroken(testtools.TestCase):
    def test_invariants_and_jobs(self):
        invariants = {
            "gangs": {"holds": False, "broken": ["one", "two"]},
            "claims": {"holds": True, "broken": []},
            "ends": {"holds": False, "broken": []},
        }
        jobs = [
            {"name": "a", "state": "finished", "reason": ""},
            {"name": "b", "state": "failed", "reason": "no host"},
        ]
        self.assertEqual(
            ["gangs: one", "gangs: two", "ends: never checked", "b ended as failed: no host"],
            outcome.broken({"invariants": invariants, "jobs": jobs}),
        )
