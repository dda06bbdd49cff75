"""Accounting of what a queue manager did: jobs lose what they held before they began anew."""

from sqlalchemy import select

from nova_twotier.db import changes, usage
from nova_twotier.db.models import Place
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.db.usage import By, Question, Span
from nova_twotier.ledger import claims
from tests.functional.manager_case import InMemoryTestCase
from tests.unit.manager import builders


class TestUsage(InMemoryTestCase):
    #: The class of the first job until it is preempted, if it is to have one then.
    qos: str | None = None

    def usage(self, *by):
        question = Question(period=Span(0.0, self.now + 1), by=by)
        with self.store.reading() as session:
            return usage.usage(session, question, 1000)

    def stays(self, number):
        """Begin and end of what the processes of a job held."""
        with self.store.reading() as session:
            places = session.scalars(select(Place).where(Place.job == number))
            return [(place.since, place.until) for place in places]

    def check_losses(self, arrivals, lives):
        jobs = self.play("amcbf", arrivals, lives)
        self.assertEqual({JobState.FINISHED}, {job.state for job in jobs})
        rows = {key.job: row for key, row in self.usage(By.JOB).items()}
        begun_anew = set()
        for job in jobs:
            stays, row = self.stays(job.number), rows[job.number]
            lost = [stay for stay in stays if stay[0] < (job.discarded_at or 0.0)]
            # No stay is lost in part.
            self.assertTrue(all(until <= job.discarded_at for _since, until in lost))
            self.assertEqual(sum(until - since for since, until in stays), row.used)
            self.assertEqual(sum(until - since for since, until in lost), row.lost)
            self.assertGreater(row.used, row.lost)
            if {"killed", "queued"} & set(self.kinds(job.number)):
                begun_anew.add(job.number)
            self.assertEqual(job.number in begun_anew, job.discarded_at is not None)
        self.assertNotEqual(set(), begun_anew)
        total = usage.total(self.usage().values())
        self.assertEqual((len(jobs), len(jobs)), (total.started, total.ended))

    def test_one_that_is_killed_to_make_room(self):
        self.cloud(seed=9)
        arrivals = [(0, 4, 1.0), (1, 6, 1.0), (12, 2, 1.0, Preemption.REQUEUE), (13, 1, 0.5)]
        self.check_losses(arrivals, lives=[30, 10, 60, 5])

    def test_one_whose_host_goes_down(self):
        self.cloud(seed=10)
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1.0, host_down_grace=5.0
        )
        self.check_losses([(0, 3, 0.5), (2, 1, 0.5)], lives=[40, 10])

    def test_one_of_whose_server_nova_left_the_claim_behind(self):
        """Somebody else has deleted the server; its slot is freed, and is not billed any more."""
        self.cloud(seed=1)
        engine = self.engine("amcbf")
        job = self.store.submit(1, [0.5], at=0.0, retries=0)
        self.rounds(engine, 12)
        [server] = self.nova.servers()
        del self.nova.fleet[server.id]
        self.rounds(engine, 200)
        over = self.store.job(job.number)
        self.assertEqual(JobState.FAILED, over.state)
        [(_since, until)] = self.stays(job.number)
        self.assertLess(until, self.now)
        self.assertEqual({}, claims.read_claims(self.ledger, self.tiers))

    def test_one_that_gets_another_class_while_it_is_preempted(self):
        self.cloud(seed=11)
        self.qos = "scavenger"
        self.play("amcbf", [(0, 2, 0.5), (8, 6, 1.0)], lives=[30, 10])
        with self.store.reading() as session:
            tiers = select(Place.qos, Place.tier).where(Place.job == 1).order_by(Place.since)
            held = list(dict.fromkeys(map(tuple, session.execute(tiers))))
        self.assertEqual(("scavenger", "bg"), held[0])
        self.assertEqual({"normal"}, {qos for qos, _tier in held[1:]})
        rows = self.usage(By.QOS)
        self.assertEqual({"normal", "scavenger"}, {key.qos for key in rows})
        self.assertEqual(usage.total(self.usage().values()), usage.total(rows.values()))

    def others(self, at):
        first = self.store.job(1)
        if at == 0 and self.qos:
            changes.change(self.store, 1, {"qos": self.qos}, may_extend=False)
        elif first.evictions and first.state == JobState.QUEUED and first.qos == self.qos:
            changes.change(self.store, 1, {"qos": "normal"}, may_extend=False)
        if at == 15 and self.options.host_interval == 1.0:
            self.nova.down.add(self.nova.servers()[0].host)
