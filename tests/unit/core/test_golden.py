"""The papers' worked examples, decision by decision."""

import pathlib

import testtools
import yaml

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Move, Tier
from nova_twotier.core.cluster import Cluster, Host
from nova_twotier.core.jobs import Job
from nova_twotier.core.snapshot import Event, Snapshot

GOLDEN = pathlib.Path(__file__).parent / "golden"


def load(name):
    script = yaml.safe_load((GOLDEN / name).read_text())
    if "same_as" in script:
        base = load(script["same_as"])
        steps = [step for step in base["steps"] if step["time"] <= script["until"]]
        script = {**base, "policy": script["policy"], "steps": steps + script["steps"]}
    return script


class TestGolden(testtools.TestCase):
    def play(self, name):
        script = load(name)
        policy = policies.get(script["policy"])
        nodes = script["nodes"]
        cluster = Cluster([Host(node, slots=1) for node in nodes])
        waiting = [
            Job(number, spec["size"], 0, (spec["cpu"],) * spec["size"], name=spec["id"])
            for number, spec in enumerate(script["jobs"], start=1)
        ]
        for step in script["steps"]:
            event = Event.ARRIVAL | Event.FOREGROUND if step["time"] == 0 else Event(0)
            for run in list(cluster.runs.values()):
                if run.job.name in step.get("departs", []):
                    cluster.remove(run.job)
                    event |= Event.FOREGROUND if run.tier is Tier.FG else Event.BACKGROUND
            before = dict(cluster.runs)
            actions = policy.schedule(Snapshot(cluster, tuple(waiting)), event, step["time"])
            cluster.apply(actions)
            for action in actions:
                if isinstance(action, Evict):
                    waiting.append(action.job)
            waiting = sorted(
                (job for job in waiting if job.number not in cluster.runs), key=lambda j: j.order
            )
            self.check(step, cluster, waiting, actions, before)

    def check(self, step, cluster, waiting, actions, before):
        expect, at = step["expect"], f"time {step['time']}"
        self.assertEqual(expect["queue"], [job.name for job in waiting], at)
        for tier in Tier:
            runs = {run.job.name: run for run in cluster.running(tier)}
            nodes = {cluster.hosts[h].name: name for name, run in runs.items() for h in run.hosts}
            if tier in expect:
                named = {node: job for node, job in nodes.items() if node in expect[tier]}
                self.assertEqual(expect[tier], named, at)
            for name, spec in expect.get(f"{tier}_sets", {}).items():
                there = sorted(node for node, job in nodes.items() if job == name)
                self.assertEqual(spec.get("nodes", there), there, at)
                self.assertEqual(spec.get("count", len(there)), len(there), at)
            listed = {*expect.get(tier, {}).values(), *expect.get(f"{tier}_sets", {})}
            if tier in expect or f"{tier}_sets" in expect:
                self.assertEqual(listed, set(runs), at)
        seen = {action.job.name: self.transition(action) for action in actions}
        for name, transition in expect.get("transitions", {}).items():
            self.assertEqual(transition, seen.get(name), f"{at}, {name}")

    @staticmethod
    def transition(action):
        if isinstance(action, Evict):
            return "evict"
        verb = "swap_to" if isinstance(action, Move) and not action.migrating else "start"
        return f"{verb}_{action.tier}"

    def test_cmcbf(self):
        self.play("tpds2013_fig2_cmcbf.yaml")

    def test_amcbf(self):
        self.play("tpds2013_fig2_amcbf.yaml")
