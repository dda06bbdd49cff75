"""Live equals simulated, under every policy: fed with the events of a live run, the simulator
decides the same.

The queue manager plays an excerpt of a trace, one event at a time: a job that is just starting can
neither be moved nor evicted, and the simulator knows no such thing. For the same reason the clock
stands still meanwhile: the time that Nova takes would shift what EASY reserves.

Each class has a workload under which its policies decide all that is typical of them, and not what
their neighbours do.
"""

import testtools
from sqlalchemy import update

from nova_twotier.core import policies
from nova_twotier.core.qos import NORMAL, SCAVENGER, URGENT
from nova_twotier.db.models import Job
from tests.functional.replay_case import SKIPPED, InMemory, ReplayCase

BACKFILL = {"start fg immediate", "start fg backfilled"}
RESERVE = BACKFILL | {"start fg reserved"}
EVICT = BACKFILL | {"evict", "start again fg immediate"}
RISE = {"move to fg in place", "move to fg elsewhere", "move to fg in part"}
TWO_TIERS = {"start fg immediate", "start bg immediate", "start bg backfilled", *RISE}
CONSOLIDATE = TWO_TIERS | {"move to bg in place", "evict", "start again bg immediate"}
#: With bandwidth, nothing is promoted that cannot stay where it is: it starts anew.
EMBED = (CONSOLIDATE - RISE) | {
    *("move to fg in place", "evict by itself", "start again fg immediate"),
}
TRY = {
    *("start fg immediate", "start bg tentative", "move to fg in place"),
    *("kill by itself", "start again fg immediate"),
}
AGGRESSIVE = {"start fg tentative", "move to bg in place", "kill", "start again bg tentative"}


class TestWithoutPreemption(InMemory):
    USUAL = 0
    LOAD_SCALE = 10.0

    def test_fcfs(self):
        self.compare("fcfs", {"start fg immediate"}, unlike=["sdf", "smjf", "easy"])
        self.compare_places("fcfs")

    def test_sdf(self):
        self.compare("sdf", BACKFILL, unlike=["fcfs", "smjf"])
        self.compare_places("sdf")

    def test_smjf(self):
        self.compare("smjf", BACKFILL, unlike=["fcfs", "sdf"])
        self.compare_places("smjf")

    def test_easy(self):
        self.compare("easy", RESERVE, unlike=["fcfs", "conservative"])
        self.compare_places("easy")

    def test_easy_sjf(self):
        self.compare("easy-sjf", RESERVE, unlike=["easy", "easy-saf"])
        self.compare_places("easy-sjf")

    def test_easy_saf(self):
        self.compare("easy-saf", RESERVE, unlike=["easy", "easy-sjf"])
        self.compare_places("easy-saf")

    def test_conservative(self):
        self.compare("conservative", RESERVE, unlike=["fcfs", "easy"])
        self.compare_places("conservative")


class TestWithPreemption(InMemory):
    USUAL = 10
    LOAD_SCALE = 10.0

    def test_cmbf(self):
        self.compare("cmbf", EVICT, unlike=["ambf", "cmcbf"])
        self.compare_places("cmbf")

    def test_ambf(self):
        self.compare("ambf", EVICT, unlike=["cmbf", "amcbf"])
        self.compare_places("ambf")

    def test_cmcbf(self):
        self.compare("cmcbf", CONSOLIDATE, unlike=["amcbf", "cmbf"])
        self.compare_places("cmcbf")

    def test_amcbf(self):
        self.compare("amcbf", CONSOLIDATE, unlike=["cmcbf", "ambf"])
        self.compare_places("amcbf")

    def test_amcbf_deadline(self):
        self.compare(
            "amcbf-deadline", CONSOLIDATE - {"start bg backfilled"}, unlike=["amcbf", "cmcbf"]
        )


class TestHistory(InMemory):
    """No job has an estimate: the manager predicts run times, and corrects those outrun.

    Both see the same run times to the second.
    """

    USUAL = 0
    MOMENT = 0.0
    LOAD_SCALE = 10.0
    HISTORY = True

    def compare(self, policy, expected, unlike=()):
        super().compare(policy, expected, unlike)
        predicted = [job for job in self.jobs() if job.counts_as_predicted]
        self.assertGreater(len(predicted), self.JOBS // 2)
        ran = [job.ran(self.now) > job.predicted for job in predicted]
        self.assertEqual({True, False}, set(ran))

    def test_easy(self):
        self.compare("easy", RESERVE, unlike=["fcfs", "sdf"])

    def test_sdf(self):
        self.compare("sdf", BACKFILL, unlike=["fcfs", "easy"])

    def test_amcbf_deadline(self):
        self.JOBS = 30
        self.compare("amcbf-deadline", {"start fg immediate", *RISE}, unlike=["amcbf"])


class TestTentative(InMemory):
    def test_ccfcfs(self):
        self.compare("ccfcfs", TRY, unlike=["acfcfs", "fcfs"])
        self.compare_places("ccfcfs")

    def test_acfcfs(self):
        self.compare("acfcfs", TRY | AGGRESSIVE, unlike=["ccfcfs"])


class TestThreeTiers(InMemory):
    """Two VMs in the background of a slot."""

    TIERS = 3
    USUAL = 10
    LOAD_SCALE = 10.0

    def test_ktier_cmbf(self):
        self.compare("ktier-cmbf", CONSOLIDATE - {"start bg backfilled"}, unlike=["amcbf"])
        with_two, _stays = self.simulate("ktier-cmbf", tiers=2)
        self.assertNotEqual(with_two, self.decided())


class TestBandwidth(InMemory):
    """On links that cannot carry all the jobs for which there are slots."""

    HOSTS = 6
    SLOTS = 2
    USUAL = 0
    LOAD_SCALE = 2.0
    LINK_MBPS = 1000

    def compare(self, policy, expected, unlike=()):
        super().compare(policy, expected, unlike)
        if SKIPPED is None:
            by_slots_alone, _stays = self.simulate(policy, self.placed(), bandwidth=False)
            self.assertNotEqual(by_slots_alone, self.decided())

    def test_fcfs(self):
        self.compare("fcfs", {"start fg immediate"})

    def test_sdf(self):
        self.compare("sdf", BACKFILL)

    def test_smjf(self):
        self.compare("smjf", BACKFILL)

    def test_sbf(self):
        self.compare("sbf", BACKFILL, unlike=["fcfs", "smjf"])

    def test_bgmbf(self):
        self.compare("bgmbf", EVICT, unlike=["fcfs", "bgmbf-sdf"])

    def test_bgmbf_sdf(self):
        self.compare("bgmbf-sdf", EVICT, unlike=["fcfs", "bgmbf"])

    def test_cmcbf(self):
        self.compare("cmcbf", EMBED, unlike=["bgmbf", "amcbf"])

    def test_amcbf(self):
        self.compare("amcbf", EMBED, unlike=["bgmbf", "cmcbf"])

    def test_ccfcfs(self):
        self.compare("ccfcfs", TRY, unlike=["acfcfs", "fcfs"])

    def test_acfcfs(self):
        self.compare("acfcfs", TRY | AGGRESSIVE, unlike=["ccfcfs", "amcbf"])


class TestClasses(InMemory):
    """Urgent jobs pass the others, and scavengers make way for them."""

    USUAL = 4
    LOAD_SCALE = 10.0
    CLASSES = (NORMAL, SCAVENGER, NORMAL, URGENT, NORMAL)

    def compare(self, policy, expected, unlike=()):
        super().compare(policy, expected, unlike)
        if SKIPPED is None:
            decided = self.decided()
            with self.store.transaction() as session:
                session.execute(update(Job).values(qos=NORMAL))
            self.assertNotEqual(decided, self.simulate(policy)[0])

    def test_amcbf(self):
        self.compare("amcbf", CONSOLIDATE, unlike=["cmcbf"])

    def test_acfcfs(self):
        self.compare("acfcfs", {"start bg tentative", "kill"}, unlike=["ccfcfs"])


class TestUrgent(InMemory):
    USUAL = 10
    LOAD_SCALE = 10.0
    CLASSES = (URGENT, NORMAL, NORMAL)

    def test_cmbf(self):
        self.compare("cmbf", EVICT, unlike=["ambf"])


class TestOnPlacement(ReplayCase):
    def test_amcbf(self):
        expected = {"start bg immediate", "evict", "start again bg immediate"}
        moves = {"move to fg elsewhere", "move to fg in part", "move to bg in place"}
        self.compare("amcbf", expected | moves)


class TestThreeTiersOnPlacement(ReplayCase):
    TIERS = 3
    USUAL = 12
    LOAD_SCALE = 2.0

    def test_ktier_cmbf(self):
        self.compare("ktier-cmbf", CONSOLIDATE - {"start bg backfilled"})


class TestBandwidthOnPlacement(ReplayCase):
    HOSTS = 6
    SLOTS = 2
    USUAL = 12
    LOAD_SCALE = 2.0
    LINK_MBPS = 1000

    def test_bgmbf(self):
        self.compare("bgmbf", EVICT)


class TestEveryPolicy(testtools.TestCase):
    def test_is_compared(self):
        cases = InMemory.__subclasses__()
        compared = {name.removeprefix("test_") for case in cases for name in vars(case)}
        known = {name.replace("-", "_") for name in policies.POLICIES}
        self.assertEqual(set(), known - compared)
