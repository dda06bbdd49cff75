"""Several queue managers as processes: who leads, and who follows when the leader is gone.

With files, with the MariaDB and PostgreSQL of this machine, and with an etcd of the tests' own;
what is not installed, or lacks tooz's library for it, is skipped.
"""

import importlib.util
import shutil
import signal
import subprocess
import threading
import time
import unittest

import fixtures
import testtools
from sqlalchemy import create_engine, text

from nova_twotier import conf as config
from nova_twotier.db import migration, queue_policy, terms
from nova_twotier.db.connection import connect
from nova_twotier.db.store import Store
from nova_twotier.ledger import names
from nova_twotier.manager import election
from tests.functional import test_databases
from tests.functional.managers import PATIENCE, Site
from tests.ports import free_port

STANDS_BY = "Standing by: pool default is led by"
REPLACED = "No longer the leader"


class TestOnFiles(testtools.TestCase):
    def test_the_leader_is_killed(self):
        site = Site(self)
        first = site.start()
        site.leads(first)
        second = site.start()
        second.says(STANDS_BY)
        first.kill()
        self.assertLess(site.leads(second), 2 * site.lease)
        third = site.start()
        third.says(STANDS_BY)
        # It looks at Nova, as its predecessor did, and the third does not.
        second.says("Nova does not answer")
        self.assertNotIn("Nova does not answer", third.log())
        self.assertEqual(0, third.end())

    def test_the_leader_is_stopped(self):
        """Each pool has its own, and whoever ends gives up what it leads."""
        site = Site(self, lease=10, pools="default,gpu")
        first = site.start()
        for pool in ("default", "gpu"):
            site.leads(first, pool)
        second = site.start()
        for pool in ("default", "gpu"):
            second.says(f"Standing by: pool {pool} is led by")
        self.assertEqual(0, first.end())
        self.assertIn("The queue manager has stopped", first.log())
        for pool in ("default", "gpu"):
            self.assertLess(site.leads(second, pool), site.lease)

    def test_paused_process_acts_no_more_when_it_was_replaced(self):
        """Its lock is still there; a new term is what a service with leases would begin."""
        site = Site(self)
        manager = site.start()
        site.leads(manager)
        manager.says("Nova does not answer")
        manager.signal(signal.SIGSTOP)
        term = terms.begin(site.store, "default", "another")
        manager.signal(signal.SIGCONT)
        manager.says(REPLACED)
        self.assertIn("pool default is led by another since", manager.log())
        # Nobody else holds the lock: it stands again, for a term of its own.
        site.leads(manager)
        manager.says(f"leads pool default, term {term + 1}")

    def test_of_a_paused_leader_that_keeps_its_lock_the_standby_says_so(self):
        site = Site(self, lease=3)
        first = site.start()
        site.leads(first)
        second = site.start()
        second.says(STANDS_BY)
        first.signal(signal.SIGSTOP)
        second.says("still holds the lead")
        [said] = [line for line in second.log().splitlines() if "still holds the lead" in line]
        self.assertRegex(said, r"WARNING .*Pool default: no manager since \S+Z, but \S+:\d+ still")
        first.signal(signal.SIGCONT)
        second.says(STANDS_BY, times=2)
        self.assertEqual(1, second.log().count("still holds the lead"))

    def test_reads_its_options_again(self):
        site = Site(self, more="policy = fcfs")
        manager = site.start()
        manager.says("The policy of pool default is fcfs")
        site.configure("policy = easy")
        manager.signal(signal.SIGHUP)
        manager.says("The policy of pool default is easy")
        site.configure("policy = fastest")
        manager.signal(signal.SIGHUP)
        manager.says("The configuration was not reloaded")
        self.assertEqual(0, manager.end())
        self.assertEqual(1, manager.log().count("leads pool default"))

    def test_a_policy_set_at_run_time_is_the_next_leaders_too(self):
        site = Site(self, more="policy = fcfs")
        first = site.start()
        first.says("The policy of pool default is fcfs")
        queue_policy.choose(site.store, "default", "easy")
        first.says("The policy of pool default is easy")
        second = site.start()
        second.says(STANDS_BY)
        first.kill()
        second.says("The policy of pool default is easy")
        queue_policy.choose(site.store, "default", None)
        second.says("The policy of pool default is fcfs")
        self.assertEqual(0, second.end())

    def test_repair_wants_it_stopped(self):
        site = Site(self)
        manager = site.start()
        site.leads(manager)
        options = config.load(["--config-file", str(site.conf_file)], "test").coordination
        with testtools.ExpectedException(election.Led, "pool default is led by"):
            election.alone(options, site.store, ["default"], "repair").__enter__()
        self.assertEqual(0, manager.end())
        with election.alone(options, site.store, ["default"], "repair"):
            second = site.start()
            second.says("Standing by: pool default is led by repair")
        site.leads(second)

    def test_wrong_options(self):
        site = Site(self, backend="zookeeper://me:secret@127.0.0.1")
        manager = site.start()
        self.assertEqual(1, manager.process.wait(PATIENCE))
        self.assertIn("twotier-manager: [coordination]backend_url: tooz cannot use", manager.log())
        self.assertNotIn("secret", manager.log())


class TakenOver:
    """What holds on every backend; `site` is one that uses it."""

    def test_the_leader_is_killed(self):
        first = self.site.start()
        self.site.leads(first)
        second = self.site.start()
        second.says(STANDS_BY)
        first.kill()
        self.assertLess(self.site.leads(second), 2 * self.site.lease)


class OnServer(TakenOver):
    """Elections on a database server; jobs are in a file, as on the other backends."""

    def setUp(self):
        super().setUp()
        if importlib.util.find_spec(self.LIBRARY) is None:
            raise unittest.SkipTest(f"{self.LIBRARY} is not installed")
        self.database = self.make_database()
        self.addCleanup(self.drop_database, self.database)
        url = self.database.set(drivername=self.SCHEME)
        self.site = Site(self, url.render_as_string(hide_password=False))

    def test_the_leader_loses_its_connection(self):
        """It does not notice, and another one leads: it finds that out before it acts."""
        first = self.site.start()
        self.site.leads(first)
        second = self.site.start()
        second.says(STANDS_BY)
        engine = create_engine(self.database, isolation_level="AUTOCOMMIT")
        self.addCleanup(engine.dispose)
        with engine.connect() as connection:
            self.cut(connection)
        self.assertLess(self.site.leads(second), 2 * self.site.lease)
        first.says(REPLACED)
        first.says(STANDS_BY)
        second.kill()
        self.assertLess(self.site.leads(first), 2 * self.site.lease)


class TestOnMariadb(OnServer, test_databases.Mariadb):
    LIBRARY, SCHEME = "pymysql", "mysql"

    def cut(self, connection):
        name = f"twotier-{names.jobs_uuid()}"
        thread = connection.scalar(text("SELECT IS_USED_LOCK(:name)"), {"name": name})
        connection.execute(text(f"KILL {thread}"))


class TestOnPostgresql(OnServer, test_databases.Postgresql):
    LIBRARY, SCHEME = "psycopg2", "postgresql"

    def cut(self, connection):
        cut = connection.scalar(
            text(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_locks "
                "WHERE locktype = 'advisory' AND granted AND database = "
                "(SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        )
        self.assertEqual(1, cut)


class TestOnEtcd(TakenOver, testtools.TestCase):
    """Elections in etcd, whose locks end with a lease that is not renewed."""

    def setUp(self):
        super().setUp()
        if shutil.which("etcd") is None or importlib.util.find_spec("etcd3gw") is None:
            raise unittest.SkipTest("etcd or etcd3gw is not installed")
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.ports = [free_port() for _ in "ab"]
        self.start_etcd()
        self.addCleanup(self.end_etcd)
        self.site = Site(self, f"etcd3+http://127.0.0.1:{self.ports[0]}", lease=10)

    def start_etcd(self):
        client, peer = (f"http://127.0.0.1:{port}" for port in self.ports)
        self.etcd = subprocess.Popen(
            [
                "etcd",
                f"--data-dir={self.directory}",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end_etcd(self):
        self.etcd.kill()
        self.etcd.wait()

    def test_etcd_is_away_for_a_while(self):
        """The lead goes on where it is, or is taken over: never is the pool without a leader."""
        first = self.site.start()
        self.site.leads(first)
        self.end_etcd()
        first.says("Could not renew the lead")
        second = self.site.start()
        second.says("Trying again every")
        self.start_etcd()
        second.says(STANDS_BY)
        first.kill()
        self.site.leads(second)


class Terms:
    """Terms on a database server, where transactions really run at the same time."""

    def setUp(self):
        super().setUp()
        url = self.make_database()
        self.addCleanup(self.drop_database, url)
        engine = connect(url)
        migration.upgrade(engine)
        engine.dispose()
        self.store = Store(url)
        self.addCleanup(self.store.close)

    def test_none_begins_while_a_leader_commits(self):
        first = terms.begin(self.store, "default", "first")
        begun = []
        thread = threading.Thread(
            target=lambda: begun.append(terms.begin(self.store, "default", "second"))
        )
        with self.store.transaction() as session:
            terms.require(session, "default", first)
            terms.require(session, "default", first, lock=True)
            thread.start()
            time.sleep(0.5)
            self.assertEqual([], begun)
        thread.join(30)
        self.assertEqual([first + 1], begun)
        with self.store.transaction() as session:
            self.assertRaises(terms.Deposed, terms.require, session, "default", first, lock=True)

    def test_one_that_began_meanwhile_is_seen(self):
        """Also by a transaction that has read the term before."""
        first = terms.begin(self.store, "default", "first")
        with self.store.transaction() as session:
            terms.require(session, "default", first)
            terms.begin(self.store, "default", "second")
            self.assertRaises(terms.Deposed, terms.require, session, "default", first, lock=True)


class TestTermsOnMariadb(Terms, test_databases.Mariadb):
    pass


class TestTermsOnPostgresql(Terms, test_databases.Postgresql):
    pass
