"""Jobs with guaranteed bandwidth: what is decided about them, and how they start."""

import json
from unittest import mock

import fixtures
import testtools

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Host
from nova_twotier.core.linked import Linked
from nova_twotier.core.reasons import waits
from nova_twotier.db import plans
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.ledger import largest, names, reading
from nova_twotier.ledger.placement import Conflict, StaleGeneration
from nova_twotier.ledger.shape import Shape
from nova_twotier.ledger.tree import TierHost
from nova_twotier.manager.decision import RECHECK, Decisions
from nova_twotier.manager.events import ALL
from nova_twotier.manager.network import Network
from nova_twotier.manager.situation import Situation
from tests.unit.manager.builders import FG, action, job, options, seen, servers
from tests.unit.manager.operation_case import OperationCase


def linked(switch="core", uplinks=(1000,), slots=2, names="abc"):
    """Hosts at one switch."""
    return tuple(
        TierHost(name, Shape(slots, 2, switch, uplinks), {tier: f"{name}-{tier}" for tier in Tier})
        for name in names
    )


def waiting(size=4, bandwidth=300.0, **values):
    return job(size, JobState.QUEUED, None, bandwidth=bandwidth, **values)


class Links:
    """A Placement that says what links have left; 1000 Mbit/s of those that are not named."""

    def __init__(self, **left):
        self.left = {**dict.fromkeys("abc", 1000), **left}
        self.reads = 0

    def get(self, url):
        assert url == reading.LINKS_URL, url
        self.reads += 1
        summaries = {
            names.link_uuid(link): {
                "resources": {names.MBPS: {"capacity": 1000, "used": 1000 - left}}
            }
            for link, left in self.left.items()
            if left
        }
        return {"provider_summaries": summaries}


class TestNetwork(testtools.TestCase):
    def test_not_every_job_that_there_ever_was_is_remembered(self):
        network, where = Network(policies.get("fcfs"), Links()), linked()
        self.enterContext(mock.patch("nova_twotier.manager.network.MOST_KINDS", 3))
        asked, fits = [], Linked.fits

        def count(cluster, core, tier):
            asked.append(core.mbps)
            return fits(cluster, core, tier)

        with mock.patch.object(Linked, "fits", count):
            for mbps in (1, 1, 2, 3, 1, 4, 1):
                self.assertIsNone(network.refusal(waiting(bandwidth=mbps), where))
        self.assertEqual([1, 2, 3, 4, 1], asked)

    def test_the_largest_bandwidth_outlives_the_manager(self):
        """AdaBa goes by it: 100 Mbit/s are little where 600 were asked for once."""
        times = []

        def largest():
            times.append(1)
            return 599.5

        network, where = Network(policies.get("fcfs"), Links(), largest), linked()
        # No more than a link carries: nobody makes the others look small by an absurd request.
        for mbps, expected in ((100, 600), (700, 700), (1e6, 1000)):
            # On one host, a job needs no link.
            self.assertIsNone(network.refusal(waiting(2, mbps), where))
            cluster = network.cluster([Host(name, 2) for name in "abc"], 0.96, ())
            self.assertEqual(expected, cluster.states[FG].max_mbps)
        self.assertEqual([1], times, "asked for once")


class TestPublished(testtools.TestCase):
    """Bmax in the ledger, for servers that are no job's."""

    def setUp(self):
        super().setUp()
        self.written = []
        self.enterContext(mock.patch.object(largest, "publish", self.publish))

    def publish(self, _placement, pool, mbps):
        self.written.append((pool, mbps))

    def network(self, mbps, **pool):
        return Network(policies.get("fcfs"), Links(), lambda: mbps, **pool)

    def test_once_and_whenever_it_changes(self):
        network, where = self.network(599.5, pool="gpu"), linked()
        for _poll in range(2):
            network.publish(where)
        self.assertIsNone(network.refusal(waiting(2, 700), where))
        network.publish(where)
        # The links are slower than what was asked for.
        network.publish(linked(uplinks=(650,)))
        self.assertEqual([("gpu", 600), ("gpu", 700), ("gpu", 650)], self.written)

    def test_nothing_to_publish(self):
        """Nobody asked for bandwidth, or nobody knows the links."""
        self.network(0.0).publish(linked())
        self.network(600.0).publish(linked(uplinks=()))
        self.assertEqual([], self.written)

    def test_placement_refuses(self):
        """The manager goes on, and tries again."""
        network, where = self.network(600.0), linked()
        log = self.useFixture(fixtures.FakeLogger("nova_twotier"))
        with mock.patch.object(largest, "publish", side_effect=Conflict("busy", 409)):
            network.publish(where)
        self.assertIn("The largest bandwidth is not published: busy", log.output)
        network.publish(where)
        self.assertEqual([("default", 600)], self.written)


class TestDecisions(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.links = Links()

    def decisions(self, policy="fcfs"):
        chosen = policies.get(policy)
        return Decisions(chosen, options(), Network(chosen, self.links))

    def ask(self, decisions, jobs, *gangs, now=1000.0, opened=(), where=None):
        look = seen(*gangs, at=now, where=where or linked())
        return decisions.decide(Situation({one.number: one for one in jobs}, opened, look, now))

    def waits(self, jobs, *gangs, policy="fcfs", **look):
        """Why the first of the jobs waits, and who starts."""
        found = self.ask(self.decisions(policy), jobs, *gangs, **look)
        return str(jobs[0].reason), [record.job for record in found]

    def test_a_start_has_its_hosts_and_links(self):
        one = waiting(3, 99.5)
        [record] = self.ask(self.decisions(), [one])
        self.assertEqual(("a", "a", "b"), record.plan.hosts)
        self.assertEqual({"a": 100, "b": 100}, record.plan.links)
        self.assertEqual(100, record.plan.max_mbps)
        stored = json.loads(json.dumps(plans.dump(record.plan)))
        self.assertEqual(record.plan, plans.load("start", stored))

    def test_one_without_bandwidth_has_none_and_costs_nothing(self):
        [record] = self.ask(self.decisions(), [waiting(3, 0.0)])
        self.assertEqual(((), {}, 0), (record.plan.hosts, record.plan.links, record.plan.max_mbps))
        self.assertEqual(0, self.links.reads)

    def test_runs_with_bandwidth_count(self):
        runs = job(3, bandwidth=800.0)
        gang = servers(runs, hosts=("a", "a", "b"))
        reason, started = self.waits([waiting(3, 300.0), runs], gang)
        self.assertEqual([], started)
        self.assertIn("no switch has 3 free slots below it with 300 Mbit/s each", reason)
        self.assertEqual(1, len(self.waits([waiting(3, 200.0), runs], gang)[1]))

    def test_a_start_under_way_counts_where_it_was_planned(self):
        starts = job(3, JobState.STARTING, bandwidth=800.0)
        plan = StartPlan(FG, "immediate", ("b", "b", "c"))
        record = action(ActionKind.START, starts, plan, attempts={"boot": 1})
        late = waiting(3, 300.0)
        self.assertEqual([], self.ask(self.decisions(), [late, starts], opened=[record]))
        [begun] = self.ask(self.decisions(), [waiting(3, 200.0), starts], opened=[record])
        self.assertEqual({"a": 200, "c": 200}, begun.plan.links)

    def test_what_others_hold_counts(self):
        self.links = Links(a=100, b=0)
        decisions, one = self.decisions(), waiting(3, 300.0)
        self.assertEqual([], self.ask(decisions, [one]))
        self.links.left["b"] = 1000
        self.assertEqual([], self.ask(decisions, [one], now=1001.0), "nothing has happened here")
        [record] = self.ask(decisions, [one], now=1000.0 + RECHECK)
        self.assertEqual({"b": 300, "c": 300}, record.plan.links)

    def test_who_can_never_start_holds_nobody_up(self):
        for policy, where, reason in (
            ("ambf", None, "its bandwidth cannot be guaranteed by the policy ambf, only by one"),
            ("easy", None, "its bandwidth cannot be guaranteed by the policy easy, only by one"),
            ("fcfs", linked(uplinks=()), str(waits.NO_RATES())),
            # A host without a switch is linked to the one root that there is.
            ("fcfs", (*linked(names="ab"), *linked("", names="c")), None),
            (
                "fcfs",
                (*linked("x", names="a"), *linked("y/z", names="b"), *linked("")[2:]),
                str(waits.BAD_NETWORK()),
            ),
            ("fcfs", linked(uplinks=(200,)), "no switch has 4 slots below it with 300 Mbit/s"),
        ):
            after = waiting(2, 0.0)
            found, started = self.waits([waiting(), after], policy=policy, where=where)
            if reason is None:
                self.assertEqual(2, len(started))
            else:
                self.assertIn(reason, found)
                self.assertEqual([after.number], started)

    def test_hosts_that_changed(self):
        decisions, one = self.decisions(), waiting()
        self.assertEqual([], self.ask(decisions, [one], where=linked(uplinks=(200,))))
        decisions.events.happened(ALL)
        self.assertEqual(1, len(self.ask(decisions, [one], where=linked())))

    def test_a_policy_that_does_not_know_of_bandwidth_leaves_those_that_run(self):
        for bandwidth, decided in ((0.0, 2), (100.0, 0)):
            first = waiting(6, 0.0, number=1, cpu=1.0)
            late = job(3, number=2, cpu=1.0, bandwidth=bandwidth)
            gang = servers(late, hosts=("a", "a", "b"))
            found = self.ask(self.decisions("ambf"), [first, late], gang)
            self.assertEqual(decided, len(found), bandwidth)

    def test_two_tiers(self):
        """A job in the background is promoted where it is, although nobody with bandwidth waits."""
        self.assertEqual([ActionKind.SWAP], self.promoted(linked()))

    def test_two_tiers_without_a_network(self):
        """Operators took the rates away: nobody knows what the links have left."""
        self.assertEqual([], self.promoted(linked(uplinks=())))

    def test_links_are_looked_at_again_only_for_who_lacks_some(self):
        """A job in the background may be promoted when others release bandwidth; one in the
        foreground has what it needs."""
        for tier, reads in ((Tier.FG, 1), (Tier.BG, 2)):
            self.links = Links()
            jobs = [job(3, number=2, tier=str(tier), bandwidth=900.0)]
            gangs, tiers = [servers(jobs[0], hosts=("b", "c", "c"))], [tier]
            if tier is Tier.BG:
                jobs.append(job(6, number=1))
                gangs.append(servers(jobs[1], hosts="abc"))
                tiers.append(Tier.FG)
            decisions = self.decisions("amcbf")
            for now in (1000.0, 1000.0 + RECHECK):
                look = seen(*gangs, tiers=tiers, at=now, where=linked())
                present = Situation({one.number: one for one in jobs}, (), look, now)
                found = decisions.decide(present)
                self.assertEqual([], found)
            self.assertEqual(reads, self.links.reads, tier)

    def promoted(self, where):
        """What is done about a job in the background while the foreground is idle."""
        one = job(3, number=1, tier="bg", bandwidth=900.0)
        look = seen(servers(one, hosts=("b", "c", "c")), tiers=[Tier.BG], where=where)
        present = Situation({1: one}, (), look, 1000.0)
        return [each.kind for each in self.decisions("amcbf").decide(present)]

    def test_suspended_ones_come_back_only_with_bandwidth_where_they_are(self):
        one = waiting(3, 300.0, saved=True)
        gang = servers(one, "SUSPENDED", hosts=("b", "b", "c"))
        [record] = self.ask(self.decisions(), [one], gang)
        self.assertEqual({"b": 300, "c": 300}, record.plan.links)
        self.links = Links(c=200)
        self.assertEqual([], self.ask(self.decisions(), [one], gang))


class TestStart(OperationCase):
    LINKS = {"a": 100, "b": 100}

    def setUp(self):
        super().setUp()
        self.one = job(2, JobState.STARTING, bandwidth=100.0)

    def record(self, links=None, **begun):
        links = self.LINKS if links is None else links
        plan = StartPlan(FG, "immediate", ("a", "b"), links)
        return action(ActionKind.START, self.one, plan, **begun)

    def poll(self, *hosts, status="ACTIVE"):
        return seen(servers(self.one, status, hosts=hosts), where=linked())

    @property
    def entered(self):
        """The links of the entry that was written last."""
        [*_others, body] = [c[1][1] for c in self.placement.method_calls if c[0] == "post"]
        held = body[self.one.uuid]["allocations"]
        links = {names.link_uuid(link): link for link in "abc"}
        return {
            links[provider]: entry["resources"][names.MBPS]
            for provider, entry in held.items()
            if provider in links
        }

    def test_enters_its_links_before_it_boots(self):
        self.advance(self.record(), self.one, seen(where=linked()))
        self.assertEqual(self.LINKS, self.entered)
        self.assertEqual(["boot"], [call[0] for call in self.calls])

    def test_the_scheduler_hears_by_which_largest_bandwidth_it_was_decided(self):
        for plan, hints in (
            (StartPlan(FG, "immediate", ("a", "b"), self.LINKS, max_mbps=600), {"max_mbps": 600}),
            (StartPlan(FG, "immediate"), {}),
        ):
            self.cloud.reset_mock()
            record = action(ActionKind.START, self.one, plan, attempts={"boot": 0})
            self.advance(record, self.one, seen(where=linked()))
            self.cloud.boot.assert_called_once_with(self.one, mock.ANY, **hints)

    def test_others_were_faster(self):
        self.placement.post.side_effect = Conflict(f"no room on {names.link_uuid('a')}", 409)
        record = self.record()
        step = self.advance(record, self.one, seen(where=linked()))
        self.assertIs(ActionState.FAILED, step.state)
        self.assertEqual([], self.calls)
        self.assertEqual((0, 1), (self.one.failures, self.one.setbacks))
        self.assertIn("the bandwidth that it was to get was taken", str(self.one.reason))
        self.assert_only_operators_read("link a (100 Mbit/s wanted)", record, self.one)

    def test_a_ledger_that_changes_all_the_time_is_tried_again(self):
        self.placement.post.side_effect = StaleGeneration("generation", 409)
        self.assertRaises(
            StaleGeneration, self.advance, self.record(), self.one, seen(where=linked())
        )

    def test_over_where_it_was_planned(self):
        step = self.advance(self.record(attempts={"boot": 1}), self.one, self.poll("a", "b"))
        self.assertIs(ActionState.DONE, step.state)
        self.assertEqual([], self.placement.method_calls)

    def test_gives_back_what_it_does_not_need(self):
        record = self.record(attempts={"boot": 1})
        self.assertIs(ActionState.DONE, self.advance(record, self.one, self.poll("a")).state)
        self.assertEqual({}, self.entered)
        self.advance(record, self.one, self.poll("a"))
        self.assertEqual(1, [call[0] for call in self.placement.method_calls].count("post"))

    def test_placed_elsewhere_it_is_taken_back(self):
        record, look = self.record(attempts={"boot": 1}), self.poll("a", "c")
        self.advance(record, self.one, look)
        self.assertEqual(["delete", "delete"], [call[0] for call in self.calls])
        self.advance(record, self.one, seen(where=linked()))
        self.assertEqual(1, self.one.failures)
        self.assert_only_operators_read("100 Mbit/s on link c, of which 0", record, self.one)

    def test_brought_back_to_the_hosts_of_its_plan(self):
        self.one.saved, self.one.state = True, JobState.RESTORING
        look = self.poll(None, status="SHELVED_OFFLOADED")
        self.advance(self.record(), self.one, look)
        gang = look.gang(self.one)
        self.assertEqual([("unshelve", gang[0], "a"), ("unshelve", gang[1], "b")], self.calls)
        self.assertEqual(self.LINKS, self.entered)
