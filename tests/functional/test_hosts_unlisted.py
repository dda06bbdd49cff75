"""Nova does not list its hosts, but answers everything else, as when it is overloaded."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import fixtures
from keystoneauth1.exceptions import ConnectTimeout

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.reader import Reader
from nova_twotier.core import policies
from nova_twotier.db.states import JobState
from nova_twotier.manager.engine import Engine
from tests.functional.queue_case import QueueTestCase


class TestHostsUnlisted(QueueTestCase):
    def new_engine(self, **pool):
        """A manager that lists in threads, as it does in its process."""
        workers = ThreadPoolExecutor(4)
        self.addCleanup(workers.shutdown)
        policy = policies.get(self.POLICY)
        return Engine(self.options, self.store, self.cloud, self.ledger, policy, workers=workers)

    def setUp(self):
        super().setUp()
        # After Nova's, which would have all that is logged.
        self.logger = self.useFixture(fixtures.FakeLogger())

    def polls(self, reached, what):
        def look():
            self.engine.poll()
            return reached()

        self.poll(look, what)

    @contextlib.contextmanager
    def unlisted(self, path="os-services"):
        """Nova does not answer requests for a path; the URLs that were requested."""
        asked, request = [], Reader._request

        def failing(reader, url, microversion):
            if path not in url:
                return request(reader, url, microversion)
            asked.append(url)
            raise ConnectTimeout("it timed out")

        with mock.patch.object(Reader, "_request", failing):
            yield asked

    def disable(self, host):
        [service] = self.cloud.nova.services.list(host=host, binary="nova-compute")
        self.cloud.disable(service.id, "maintenance")

    def test_an_established_manager_goes_on(self):
        self.until(self.store.submit(1, [0.5]).number, JobState.RUNNING)
        with self.unlisted() as asked:
            job = self.store.submit(2, [0.5]).number
            self.until(job, JobState.RUNNING)
            self.polls(lambda: len(asked) > 1, "it is asked again")
            self.store.request_action(job, "cancel")
            self.until(job, JobState.CANCELLED)
        self.assertIn("The hosts stay as they were known at", self.logger.output)
        self.assertIn("it timed out", self.logger.output)

        [first, *_others] = self.hosts
        self.disable(first)
        self.polls(lambda: first not in self.engine._hosts.enabled, "it hears of the hosts again")

    def test_hypervisors_whose_names_are_known_need_no_list(self):
        [first, *_others] = self.hosts
        self.until(self.store.submit(1, [0.5]).number, JobState.RUNNING)
        with self.unlisted("os-hypervisors") as asked:
            self.disable(first)
            self.polls(lambda: first not in self.engine._hosts.enabled, "it hears of the host")
        self.assertEqual([], asked)

    def test_one_that_takes_over_waits(self):
        for path in ("os-services", "os-hypervisors"):
            self.engine = self.new_engine()
            with self.unlisted(path):
                job = self.store.submit(1, [0.5]).number
                for _poll in range(2):
                    self.assertRaises(CloudError, self.engine.poll)
            self.until(job, JobState.RUNNING)
