"""What a job's server group costs: which requests real Nova gets in the life of a job."""

from collections import Counter
from unittest import mock

from keystoneauth1.session import Session
from nova import exception

from nova_twotier.db.states import JobState
from tests.functional.queue_case import QueueTestCase

MAKE, LIST, DELETE = "POST group", "GET groups", "DELETE group"
#: A list of groups that fit on one page: the second page shows that there are no more.
WHOLE_LIST = 2


class TestServerGroups(QueueTestCase):
    def setUp(self):
        super().setUp()
        self.asked = Counter()
        original = Session.request

        def request(session, url, method, *args, **options):
            if "/os-server-groups" in url:
                self.asked[f"{method} group{'s' if method == 'GET' else ''}"] += 1
            elif "/servers" in url and method == "POST":
                self.asked["POST servers"] += url.endswith("/servers")
            return original(session, url, method, *args, **options)

        patch = mock.patch.object(Session, "request", request)
        patch.start()
        self.addCleanup(patch.stop)

    def live(self, meanwhile=lambda: None, requeue=False):
        """A job from its submission to its end; what was asked of Nova about groups."""
        job = self.store.submit(2, [0.5])
        self.until(job.number, JobState.RUNNING)
        [group] = self.groups()
        self.assertEqual(f"twotier-{job.uuid}", group["name"])
        self.assertEqual(2, len(group["members"]))
        meanwhile()
        if requeue:
            self.store.request_action(job.number, "requeue")
            self.until(job.number, JobState.RUNNING, runs=2)
        self.store.request_action(job.number, "cancel")
        self.until(job.number, JobState.CANCELLED)
        self.assertEqual([], self.groups())
        return self.asked

    def groups(self):
        return self.admin_api.api_get("/os-server-groups?all_projects=True").body["server_groups"]

    def test_none_is_listed(self):
        self.assertEqual({MAKE: 1, "POST servers": 1, DELETE: 1}, self.live())

    def test_another_manager_ends_the_job(self):
        """It cannot know whether there is only one."""

        def another():
            self.engine = self.new_engine()

        self.assertEqual(
            {MAKE: 1, "POST servers": 1, LIST: WHOLE_LIST, DELETE: 1}, self.live(another)
        )

    def test_a_job_that_is_too_large_for_one(self):
        self.conf.set_override("largest_server_group", 1, "manager")
        job = self.store.submit(2, [0.5])
        self.until(job.number, JobState.RUNNING)
        self.assertEqual([], self.groups())
        self.store.request_action(job.number, "cancel")
        self.until(job.number, JobState.CANCELLED)
        self.assertEqual({"POST servers": 1}, self.asked)

    def test_the_operator_changes_which_jobs_have_one(self):
        """The next start of a job goes by it, and nothing is left of the one before."""
        for before, groups, after in ((1, 0, 2), (2, 1, 1)):
            self.conf.set_override("largest_server_group", before, "manager")
            job = self.store.submit(2, [0.5])
            self.until(job.number, JobState.RUNNING)
            self.assertEqual(groups, len(self.groups()))
            self.conf.set_override("largest_server_group", after, "manager")
            self.store.request_action(job.number, "requeue")
            self.until(job.number, JobState.RUNNING, runs=2)
            self.assertEqual(1 - groups, len(self.groups()))
            self.store.request_action(job.number, "cancel")
            self.until(job.number, JobState.CANCELLED)
            self.assertEqual([], self.groups())

    def test_a_job_that_begins_anew(self):
        asked = self.live(requeue=True)
        # The second boot lists the project's groups, of which there are none, and its end all.
        self.assertEqual((2, 2), (asked[MAKE], asked[DELETE]))
        self.assertEqual(1 + WHOLE_LIST, asked[LIST])

    def test_a_boot_that_is_repeated(self):
        """The group of the first attempt is found."""
        create = "nova.compute.api.API.create"
        job = self.store.submit(2, [0.5])
        with mock.patch(
            create, side_effect=exception.TooManyInstances(overs="cores", req=1, used=1, allowed=1)
        ):
            self.until(job.number, JobState.QUEUED, setbacks=1)
        self.until(job.number, JobState.RUNNING)
        self.assertEqual(1, self.asked[MAKE])
        self.assertEqual(1, len(self.groups()))
