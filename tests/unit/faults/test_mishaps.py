"""What goes wrong is made good again, also when the run ends in between."""

import pathlib
import threading
import time
import types
from unittest import mock

import fixtures
import testtools

from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.mishaps import DatabaseRestart, HostDeath, Outage, ServerLoss
from nova_twotier.tools.faults.proxy import Fault, Request
from nova_twotier.tools.faults.trouble import Troubles
from nova_twotier.tools.replay.guests import Harm

REQUEST = Request("placement", "GET", "/allocations")
SERVER = types.SimpleNamespace(id="vm", name="tt-1-1")
setattr(SERVER, "OS-EXT-SRV-ATTR:host", "h1")


class TestMishaps(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "faults.log")
        self.journal = Journal(self.file)
        self.nova = mock.Mock()
        self.nova.services.list.return_value = [types.SimpleNamespace(id=7)]
        self.recovery = mock.Mock()
        self.harm = Harm()
        self.site = types.SimpleNamespace(
            journal=self.journal,
            recovery=self.recovery,
            nova=self.nova,
            harm=self.harm,
            control=mock.Mock(),
            hosts=("h1", "h2"),
            victim=mock.Mock(side_effect=[None, SERVER]),
        )

    def wait_for(self, mishap):
        while mishap.is_alive() and not mishap.happened:
            time.sleep(0.01)

    def test_outage(self):
        lasts, over = [], threading.Event()

        def wait(seconds):
            lasts.append(seconds)
            return bool(seconds) and not over.wait(60)

        outage = Outage(0.0, self.site, "placement", seconds=0.3)
        outage.over = mock.Mock(wait=wait)
        self.addCleanup(over.set)
        self.assertIsNone(outage.before(REQUEST))
        outage.start()
        self.wait_for(outage)
        self.assertEqual(Fault.DROPPED, outage.before(REQUEST))
        self.assertEqual({outage}, self.harm.outages)
        over.set()
        outage.join()
        self.assertEqual([0.0, 0.3], lasts)
        self.assertIsNone(outage.before(REQUEST))
        self.assertEqual(set(), self.harm.outages)
        self.assertEqual({"placement down": 1, "placement up": 1}, dict(self.journal.counts))

    def test_not_before_its_time(self):
        outage = Outage(60.0, self.site, "placement", seconds=1.0)
        with Troubles([outage]):
            self.assertIsNone(outage.before(REQUEST))
        self.assertFalse(outage.happened)

    def test_a_server_is_deleted_as_soon_as_there_is_one(self):
        loss = ServerLoss(0.0, self.site)
        loss.start()
        loss.join()
        self.nova.servers.delete.assert_called_once_with("vm")
        self.assertTrue(loss.happened)
        self.assertEqual({"vm"}, self.harm.struck)

    def test_a_host_comes_back_when_the_run_is_over(self):
        dead = self.harm.dead
        death = HostDeath(0.0, self.site, seconds=60.0)
        with Troubles([death]):
            self.wait_for(death)
            self.assertEqual({"h1"}, dead)
        self.assertEqual(set(), dead)
        calls = self.nova.services.force_down.call_args_list
        self.assertEqual([mock.call(7, True), mock.call(7, False)], calls)

    def test_the_database_is_cut_and_comes_back(self):
        gate = mock.Mock()
        gate.server_side.side_effect = [set(), {4711}]
        database = mock.Mock(cut=mock.Mock(side_effect=len))
        restart = DatabaseRestart(0.0, self.site, gate, database, seconds=0.01)
        restart.start()
        restart.join()
        self.assertEqual([mock.call(set()), mock.call({4711})], database.cut.call_args_list)
        self.assertEqual(["shut", "open"], [call[0] for call in gate.method_calls[-2:]])
        self.assertEqual(set(), self.harm.outages)
