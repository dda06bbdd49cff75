"""The papers' worked examples, decision by decision."""

import pathlib
import re

import testtools
import yaml

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Kill, Move, Start, Tier
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG

GOLDEN = pathlib.Path(__file__).parent / "golden"

EVENTS = {FG: Event.FOREGROUND, BG: Event.BACKGROUND}


def one_slot_hosts(nodes):
    return Hosts([Host(node, slots=1) for node in nodes])


def nodes_of(nodes):
    return Nodes(len(nodes))


def counted(nodes):
    return Counted(len(nodes))


def load(name):
    script = yaml.safe_load((GOLDEN / name).read_text())
    if "same_as" in script:
        base = load(script["same_as"])
        steps = [step for step in base["steps"] if step["time"] <= script["until"]]
        script = {**base, "policy": script["policy"], "steps": steps + script["steps"]}
    return script


def job_of(number, spec):
    cpu = spec.get("cpu", 1.0 if spec["size"] == 1 else 0.6)
    return Job(number, spec["size"], 0, (cpu,) * spec["size"], name=spec["id"])


class Stage:
    """The cluster of a script, with its jobs waiting but for those that it has placed."""

    def __init__(self, script, make):
        self.policy = policies.get(script["policy"])
        self.nodes = script["nodes"]
        self.cluster = make(self.nodes)
        self.waiting = [job_of(number, spec) for number, spec in enumerate(script["jobs"], start=1)]
        for job in list(self.waiting):
            if job.name in script.get("preplaced", {}):
                places = [self.nodes.index(node) for node in script["preplaced"][job.name]]
                self.cluster.start(job, FG, places)
                self.waiting.remove(job)

    def step(self, time, departs):
        event = Event.ARRIVAL | Event.FOREGROUND if time == 0 else Event(0)
        for run in list(self.cluster.runs.values()):
            if run.job.name in departs:
                self.cluster.remove(run.job)
                event |= EVENTS[run.tier]
        actions = self.policy.schedule(Snapshot(self.cluster.copy(), self.waiting), event, time)
        self.cluster.apply(actions)
        self.waiting += [action.job for action in actions if isinstance(action, Evict | Kill)]
        self.waiting = [job for job in self.waiting if job.number not in self.cluster.runs]
        self.waiting.sort(key=lambda job: job.order)
        return actions

    def seats(self, tier):
        """The names of the jobs of a tier, and their nodes."""
        return {
            run.job.name: sorted(self.nodes[host] for host in run.hosts)
            for run in self.cluster.running(tier)
        }


class TestGolden(testtools.TestCase):
    def play(self, name, *bodies):
        for make in bodies:
            script = load(name)
            stage = Stage(script, make)
            for step in script["steps"]:
                at = f"{name}, {make.__name__}, time {step['time']}"
                gone = [run.job.name for run in stage.cluster.runs.values()]
                self.assertLessEqual(set(step.get("departs", [])), set(gone), at)
                actions = stage.step(step["time"], step.get("departs", []))
                self.check_counts(step["expect"], stage, at)
                self.check_actions(step["expect"], actions, at)
                if make is not counted:
                    self.check_nodes(step["expect"], stage, at)
                    self.check_paper_nodes(step, stage, at)

    def check_counts(self, expect, stage, at):
        """What a cluster that only counts knows, too."""
        known = {"fg", "bg", "fg_sets", "bg_sets", "queue", "running", "idle"}
        self.assertEqual(set(), set(expect) - known - {"transitions", "unmoved"}, at)
        self.assertEqual(expect["queue"], [job.name for job in stage.waiting], at)
        if "running" in expect:
            self.assertEqual(sorted(expect["running"]), sorted(stage.seats(FG)), at)
        if "idle" in expect:
            self.assertEqual(expect["idle"], stage.cluster.idle[FG], at)

    def check_nodes(self, expect, stage, at):
        for tier in Tier:
            seats = stage.seats(tier)
            nodes = {node: name for name, there in seats.items() for node in there}
            if tier in expect:
                named = {node: job for node, job in nodes.items() if node in expect[tier]}
                self.assertEqual(expect[tier], named, at)
            for name, spec in expect.get(f"{tier}_sets", {}).items():
                there = seats.get(name, [])
                self.assertEqual(sorted(spec.get("nodes", there)), there, at)
                self.assertEqual(spec.get("count", len(there)), len(there), at)
            listed = {*expect.get(tier, {}).values(), *expect.get(f"{tier}_sets", {})}
            if tier in expect or f"{tier}_sets" in expect:
                self.assertEqual(listed, set(seats), at)

    def check_actions(self, expect, actions, at):
        seen = {}
        for action in actions:
            # Whatever else happens to who was preempted: that comes first.
            seen.setdefault(action.job.name, self.transition(action))
        for name, transition in expect.get("transitions", {}).items():
            self.assertEqual(transition, seen.get(name), f"{at}, {name}")
        for name in expect.get("unmoved", []):
            self.assertNotIn(name, seen, at)
        unlisted = {
            name: transition
            for name, transition in seen.items()
            if transition in ("evict", "kill") and name not in expect.get("transitions", {})
        }
        self.assertEqual({}, unlisted, at)

    def check_paper_nodes(self, step, stage, at):
        """Where the prose leaves a tie open, ours falls as in the figure."""
        seats = {**stage.seats(FG), **stage.seats(BG)}
        for job, nodes in step.get("paper_nodes", {}).items():
            self.assertEqual(sorted(nodes), seats[job], f"{at}, {job}")

    @staticmethod
    def transition(action):
        if isinstance(action, Evict | Kill):
            return type(action).__name__.lower()
        verb = "swap_to" if isinstance(action, Move) and not action.migrating else "start"
        return f"{verb}_{action.tier}"

    def test_cmbf(self):
        self.play("tpds2013_fig1a_cmbf.yaml", one_slot_hosts, nodes_of, counted)

    def test_ambf(self):
        self.play("tpds2013_fig1b_ambf.yaml", one_slot_hosts, nodes_of, counted)

    def test_cmcbf(self):
        self.play("tpds2013_fig2_cmcbf.yaml", one_slot_hosts, nodes_of)

    def test_amcbf(self):
        self.play("tpds2013_fig2_amcbf.yaml", one_slot_hosts, nodes_of)

    def test_ccfcfs(self):
        self.play("jss2015_fig3b_ccfcfs.yaml", one_slot_hosts, nodes_of)

    def test_acfcfs(self):
        self.play("jss2015_fig3c_acfcfs.yaml", one_slot_hosts, nodes_of)

    def test_every_script_is_played(self):
        played = re.findall(r'self\.play\("([^"]+)"', pathlib.Path(__file__).read_text())
        self.assertEqual(sorted(path.name for path in GOLDEN.glob("*.yaml")), sorted(played))


class TestFinish(testtools.TestCase):
    """Fig. 1 of TPDS 2013 with the jobs' lengths: nothing is scripted but these."""

    def finish(self, script, make):
        """When each job ends; what it has done is kept while it waits."""
        stage = Stage(script, make)
        left = {spec["id"]: spec["length"] for spec in script["jobs"]}
        ends, now, over = {}, 0, []
        while True:
            stage.step(now, over)
            running = stage.seats(FG)
            if not running:
                return ends, stage
            passing = min(left[name] for name in running)
            now += passing
            for name in running:
                left[name] -= passing
            over = [name for name in running if not left[name]]
            ends.update((name, now) for name in over)

    def check(self, name):
        script = load(name)
        departs = {job: step["time"] for step in script["steps"] for job in step.get("departs", [])}
        for make in (one_slot_hosts, nodes_of, counted):
            ends, stage = self.finish(script, make)
            self.assertEqual([], stage.waiting)
            self.assertEqual(script["finish"], ends)
            # The script lets them depart at the same times.
            self.assertEqual(departs, {job: ends[job] for job in departs})

    def test_cmbf(self):
        self.check("tpds2013_fig1a_cmbf.yaml")

    def test_ambf(self):
        self.check("tpds2013_fig1b_ambf.yaml")


class TestTransition(testtools.TestCase):
    def test_of_each_action(self):
        one = job_of(1, {"size": 2, "id": "J1"})
        for action, name in (
            (Start(one, FG, (0, 1), None), "start_fg"),
            (Move(one, BG, (0, 1), (0, 1)), "swap_to_bg"),
            (Move(one, FG, (0, 1), (0, 2)), "start_fg"),
            (Evict(one, FG, one), "evict"),
            (Kill(one, BG, one), "kill"),
        ):
            self.assertEqual(name, TestGolden.transition(action))
