"""The answer about a job that is not there yet is what happens when it is submitted."""

import io
import json
import pathlib
import time
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout

import fixtures

from nova_twotier.cmd import manage
from nova_twotier.core import queue_state
from nova_twotier.core.queue_state import changes
from nova_twotier.db.states import JobState
from nova_twotier.manager.queue_state import take
from nova_twotier.sim import what_if
from tests.functional.queue_case import OPTIONS, QueueTestCase

ESTIMATE = 600.0


class TestWhatIf(QueueTestCase):
    HOSTS = 2
    SLOTS = 2

    def new_engine(self, **pool):
        self.now = time.time()
        return super().new_engine(clock=lambda: self.now, **pool)

    def state(self):
        taken = take(self.store, self.cloud, self.ledger, self.options, "default", lambda: self.now)
        # As what-if reads it from the file.
        return queue_state.load(json.loads(queue_state.text(taken.state)))

    def running(self, *cpu):
        """A job with a process of each of these utilisations."""
        number = self.store.submit(len(cpu), list(cpu), estimate=ESTIMATE, at=self.now).number
        self.until(number, JobState.RUNNING)
        return number

    def submit(self, size, cpu, estimate=ESTIMATE):
        return self.store.submit(size, [cpu] * size, estimate=estimate, at=self.now).number

    def asked(self, size, cpu, estimate=ESTIMATE):
        """What is expected of a job if it is submitted now, and all run as long as they said."""
        state, number = changes.add_job(self.state(), size, estimate, cpu)
        return what_if.expect(state, "requested")[number]

    def placed(self, number):
        """The tier of a job, and how many of its servers are on each host."""
        claims = [self.claim_of(server) for server in self.servers(number)]
        [tier] = {tier for _host, tier in claims}
        return tier, Counter(host for host, _tier in claims)

    def check(self, number, expected, submitted):
        """It has started where and when that was expected."""
        job = self.store.job(number)
        self.assertEqual(expected.start, job.started_at - submitted)
        self.assertEqual((expected.tier, Counter(expected.hosts)), self.placed(number))

    def test_starts_where_and_when_it_was_expected(self):
        # No two places are equally good: between those, Nova takes either.
        first = self.running(0.7, 0.6, 0.5)
        submitted = self.now
        # One slot is idle, and three are partly used: it shares one of these.
        expected = self.asked(2, 0.4, estimate=9000.0)
        self.assertEqual((0.0, "bg"), (expected.start, expected.tier))
        second = self.submit(2, 0.4, estimate=9000.0)
        self.until(second, JobState.RUNNING)
        self.check(second, expected, submitted)

        # The rest of the background is too small for this one: it waits until the first job ends.
        self.now += 100
        submitted = self.now
        expected = self.asked(4, 0.9)
        self.assertEqual(500.0, expected.start)
        third = self.submit(4, 0.9)
        self.engine.poll()
        self.now += expected.start
        self.store.request_action(first, "complete")
        self.until(third, JobState.RUNNING)
        self.check(third, expected, submitted)

    def test_state_of_what_is_there(self):
        running = self.running(0.5, 0.5)
        waiting = self.submit(4, 0.5)
        held = self.store.submit(1, [0.5], held=True, at=self.now)
        self.engine.poll()
        self.now += 50
        state = self.state()
        self.assertEqual([running, waiting], [each.job.number for each in state.jobs])
        self.assertEqual([50.0, 0.0], [each.done for each in state.jobs])
        tier, hosts = self.placed(running)
        self.assertEqual(tier, state.jobs[0].tier)
        self.assertEqual(hosts, Counter(state.hosts[at].name for at in state.jobs[0].hosts))
        self.assertEqual([(2, 2), (2, 2)], [(host.slots, host.tiers) for host in state.hosts])
        self.assertEqual(("amcbf", "default"), (state.policy, state.pool))
        self.assertNotIn(held.number, [each.job.number for each in state.jobs])

    def test_command(self):
        """It writes the same from the outside, and changes nothing."""
        running = self.running(0.5, 0.5)
        before = self.store.job(running).revision, self.usage()
        self.access_of("nova_twotier.cmd.manage_snapshot")
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        file, self.conf = directory / "state.json", directory / "nova-twotier.conf"
        with self.store.reading() as session:
            database = f"[database]\nconnection = {session.get_bind().url}\n"
        self.conf.write_text(OPTIONS.format(flavor=self.flavor, image=self.image) + database)
        code, out, err = self.manage("--output", str(file), "--anonymous")
        self.assertEqual((0, ""), (code, err))
        self.assertIn("| waiting | running |", out)
        state = queue_state.load(json.loads(file.read_text()))
        self.assertEqual([running], [each.job.number for each in state.jobs])
        self.assertEqual(["host1", "host2"], [host.name for host in state.hosts])
        self.assertEqual("", state.pool)
        self.assertEqual(before, (self.store.job(running).revision, self.usage()))

        code, out, err = self.manage()
        self.assertEqual("default", queue_state.load(json.loads(out)).pool)
        code, out, err = self.manage("--pool", "gpu")
        message = "pool gpu has neither hosts nor jobs; pools with hosts: default"
        self.assertEqual((2, f"twotier-manage: {message}\n"), (code, err))

    def manage(self, *args):
        """Exit code, standard output and standard error of `twotier-manage snapshot`."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = manage.main(["--config-file", str(self.conf), "snapshot", *args])
        return code, out.getvalue(), err.getvalue()
