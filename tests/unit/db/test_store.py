"""The store on a SQLite file, and what it says of databases that cannot be."""

import fixtures
import testtools

from nova_twotier import conf as config
from nova_twotier.db.store import Store, StoreError, open_store
from tests.unit.db.behaviour import StoreBehaviour
from tests.unit.db.changes_behaviour import ChangesBehaviour
from tests.unit.db.deliveries_behaviour import DeliveriesBehaviour
from tests.unit.db.open_jobs_behaviour import OpenJobsBehaviour
from tests.unit.db.upkeep_behaviour import UpkeepBehaviour
from tests.unit.db.usage_behaviour import UsageBehaviour


class TestStoreOnSqlite(
    *(ChangesBehaviour, DeliveriesBehaviour, OpenJobsBehaviour, StoreBehaviour, UpkeepBehaviour),
    *(UsageBehaviour, testtools.TestCase),
):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = Store(f"sqlite:///{directory}/new/queue.sqlite")
        self.addCleanup(self.store.close)


class TestOpening(testtools.TestCase):
    def refused(self, url):
        return str(self.assertRaises(StoreError, Store, url, max_retries=0))

    def test_an_url_that_is_none(self):
        told = self.refused("secret:@there/")
        self.assertIn("[database]connection is not a URL", told)
        self.assertNotIn("secret", told)

    def test_an_url_whose_port_is_none(self):
        told = self.refused("mysql+pymysql://me:secret@there:x/twotier")
        self.assertIn("[database]connection is not a URL", told)
        self.assertNotIn("secret", told)

    def test_a_file_that_cannot_be(self):
        self.assertIn(
            "/proc/none/x.sqlite cannot be opened", self.refused("sqlite:////proc/none/x.sqlite")
        )

    def test_a_file_that_is_no_database(self):
        path = self.useFixture(fixtures.TempDir()).join("x.sqlite")
        with open(path, "w") as file:
            file.write("not a database, but long enough to look like one\n" * 100)
        self.assertIn("file is not a database", self.refused(f"sqlite:///{path}"))

    def test_a_server_that_does_not_answer(self):
        # Port 1 of the loopback: nobody listens there.
        told = self.refused("mysql+pymysql://me:secret@127.0.0.1:1/twotier")
        self.assertIn("database mysql+pymysql://me:***@127.0.0.1:1/twotier", told)
        self.assertEqual(1, len(told.splitlines()))
        self.assertNotIn("secret", told)

    def test_a_driver_that_is_not_there(self):
        self.assertIn("cannot be opened", self.refused("nosuch+driver://127.0.0.1/twotier"))

    def test_from_the_configuration(self):
        directory = self.useFixture(fixtures.TempDir())
        with open(directory.join("x.conf"), "w") as file:
            file.write(f"[DEFAULT]\nstate_path = {directory.path}\n[database]\nmax_pool_size = 2\n")
        conf = config.load(["--config-file", directory.join("x.conf")], "twotier")
        store = open_store(conf, max_retries=0)
        self.addCleanup(store.close)
        store.submit(1, [1.0])
        again = Store(f"sqlite:///{directory.path}/twotier.sqlite")
        self.addCleanup(again.close)
        self.assertEqual(1, len(again.jobs()))
