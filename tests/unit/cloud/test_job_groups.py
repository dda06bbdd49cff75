"""Which jobs have server groups, and when these are made and deleted without a list of all."""

import collections

import requests
import requests_mock
import testtools
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run

from nova_twotier.cloud.errors import CloudError, GroupFull
from nova_twotier.cloud.job_groups import MOST, OnlyGroups
from nova_twotier.cloud.listing import Lister
from nova_twotier.cloud.nova import Cloud
from tests.unit.cloud.cloud_case import NOVA, CloudCase
from tests.unit.cloud.listings import serve
from tests.unit.manager.builders import job

GROUPS = f"{NOVA}/os-server-groups"


class TestRequests(CloudCase):
    def setUp(self):
        super().setUp()
        self.one = job()
        self.listed = serve(self.http, GROUPS, [{"id": "g1", "name": f"twotier-{self.one.uuid}"}])
        self.deleted = self.http.delete(f"{GROUPS}/g1", status_code=204)

    def counts(self):
        """How often groups were listed, and this one was deleted."""
        return self.listed.call_count, self.deleted.call_count

    def test_none_is_listed_for_a_job_that_is_booted_once(self):
        self.cloud.boot(self.one, first=True)
        hints = self.booted.last_request.json()["os:scheduler_hints"]
        self.assertEqual("g1", hints["group"])
        self.cloud.delete_server_group(self.one)
        self.assertEqual((0, 1), self.counts())

    def test_one_that_is_gone(self):
        self.cloud.boot(self.one, first=True)
        self.http.delete(f"{GROUPS}/g1", status_code=404)
        self.cloud.delete_server_group(self.one)

    def test_a_boot_that_is_repeated(self):
        self.http.post(f"{NOVA}/servers", status_code=503)
        self.assertRaises(CloudError, self.cloud.boot, self.one, first=True)
        self.http.post(f"{NOVA}/servers", json={"server": {"id": "s1"}})
        self.cloud.boot(self.one)
        self.assertEqual((1, 0), self.counts())
        self.cloud.delete_server_group(self.one)
        self.assertEqual((3, 1), self.counts())

    def test_a_group_of_which_nobody_knows_whether_it_was_made(self):
        self.http.post(GROUPS, exc=requests.ReadTimeout)
        self.assertRaises(CloudError, self.cloud.boot, self.one, first=True)
        self.cloud.delete_server_group(self.one)
        self.assertEqual((2, 1), self.counts())

    def test_another_term(self):
        self.cloud.boot(self.one, first=True)
        self.cloud.begin(Lister())
        self.cloud.delete_server_group(self.one)
        self.assertEqual((2, 1), self.counts())

    def test_a_delete_that_is_repeated(self):
        """By its id, too, and not again for the next group of the same job."""
        self.cloud.boot(self.one, first=True)
        self.http.delete(f"{GROUPS}/g1", status_code=503)
        self.assertRaises(CloudError, self.cloud.delete_server_group, self.one)
        self.deleted = self.http.delete(f"{GROUPS}/g1", status_code=204)
        self.cloud.delete_server_group(self.one)
        self.assertEqual((0, 1), self.counts())
        self.cloud.delete_server_group(self.one)
        self.assertEqual((2, 2), self.counts())

    def test_a_job_that_is_too_large(self):
        made = self.http.post(GROUPS, json={"server_group": {"id": "g1", "name": "group"}})
        self.conf.set_override("largest_server_group", 2, "manager")
        self.addCleanup(self.conf.clear_override, "largest_server_group", "manager")
        three = job(size=3)
        self.cloud.boot(job(size=2), first=True)
        self.assertEqual(1, made.call_count)
        self.cloud.boot(three, first=True)
        self.assertEqual(1, made.call_count)
        self.assertNotIn("group", self.booted.last_request.json()["os:scheduler_hints"])
        self.cloud.delete_server_group(three)
        self.assertEqual((0, 0), self.counts())
        self.conf.set_override("largest_server_group", -1, "manager")
        self.cloud.boot(job(size=3), first=True)
        self.assertEqual(2, made.call_count)

    def quota(self, url, said, body=None):
        """Nova refuses whatever has this text in its request."""

        def answer(request, context):
            if said in request.text:
                context.status_code = 403
                return {"forbidden": {"message": "Quota exceeded, too many servers in group"}}
            return body

        return self.http.post(url, json=answer)

    def test_the_quota_of_groups(self):
        """Nor is any looked for when the job ends."""
        self.quota(GROUPS, "server_group")
        self.cloud.boot(self.one, first=True)
        self.assertNotIn("group", self.booted.last_request.json()["os:scheduler_hints"])
        self.cloud.delete_server_group(self.one)
        self.assertEqual((0, 0), self.counts())

    def test_the_quota_of_members(self):
        """After a refusal, no group is created for the owner's jobs of this size or larger.

        The refused group is deleted when its job ends.
        """
        made = self.http.post(GROUPS, json={"server_group": {"id": "g1", "name": "group"}})
        servers = self.quota(f"{NOVA}/servers", '"group"', {"server": {"id": "s1"}})
        refused = self.assertRaises(GroupFull, self.cloud.boot, self.one, first=True)
        self.assertEqual((True, False), (refused.passing, refused.taken))
        self.cloud.boot(self.one)
        for size in (2, 3):
            self.cloud.boot(job(size=size), first=True)
        self.assertEqual((1, 4), (made.call_count, servers.call_count))
        self.cloud.delete_server_group(self.one)
        self.assertEqual((2, 1), self.counts())
        self.assertRaises(GroupFull, self.cloud.boot, job(size=1), first=True)
        self.cloud.begin(Lister())
        self.assertRaises(GroupFull, self.cloud.boot, job(size=2), first=True)

    def test_a_group_whose_earlier_members_count(self):
        """As with unified limits: that says nothing of other jobs."""
        made = self.http.post(GROUPS, json={"server_group": {"id": "g1", "name": "group"}})
        self.quota(f"{NOVA}/servers", '"group"', {"server": {"id": "s1"}})
        self.assertRaises(GroupFull, self.cloud.boot, self.one)
        self.cloud.boot(self.one)
        self.assertEqual((1, 0), self.counts())
        self.http.post(f"{NOVA}/servers", json={"server": {"id": "s1"}})
        self.cloud.boot(job(), first=True)
        self.assertEqual(1, made.call_count)

    def test_a_group_that_was_made_before_the_option_was_lowered(self):
        """The next boot does not use it, and it is deleted when the job ends."""
        self.conf.set_override("largest_server_group", 0, "manager")
        self.addCleanup(self.conf.clear_override, "largest_server_group", "manager")
        self.cloud.boot(self.one)
        self.assertNotIn("group", self.booted.last_request.json()["os:scheduler_hints"])
        self.assertEqual((0, 0), self.counts())
        self.cloud.delete_server_group(self.one)
        self.assertEqual((2, 1), self.counts())


class TestOnlyGroups(testtools.TestCase):
    def test_the_oldest_is_forgotten(self):
        """Not all jobs whose groups are remembered have them deleted."""
        only = OnlyGroups()
        for number in range(MOST + 1):
            only.add(f"job{number}", f"group{number}")
        found = [only.get(f"job{number}") for number in (0, 1, MOST)]
        self.assertEqual([None, "group1", f"group{MOST}"], found)


class Machine(RuleBasedStateMachine):
    """The model: the groups in Nova, and requests to make some that it has not carried out yet.

    The manager records a boot before it asks for it, and so knows which boot of a job is the first,
    whoever made it. Of two managers one leads at a time. The operator changes which jobs have
    groups, and the quotas of groups and of their members.
    """

    jobs = st.sampled_from([job(), job(), job(size=9)])

    def __init__(self, conf, http):
        super().__init__()
        self.groups = {}
        self.made = 0
        self.stranger = self.new("stranger")
        self.late = []
        self.recorded = set()
        self.fate = "answered"
        self.most, self.members = 99, 9
        #: The least job of which Nova has refused a group.
        self.refused = 99
        self.crowded = set()
        self.conf = conf
        conf.clear_override("largest_server_group", "manager")
        self.managers = collections.deque([Cloud(conf), Cloud(conf)])
        http.get(GROUPS, json=self.list_groups)
        http.post(GROUPS, json=self.make_group)
        http.delete(requests_mock.ANY, status_code=204, text=self.delete_group)
        http.post(f"{NOVA}/servers", json=self.boot_servers)

    def list_groups(self, request, _context):
        found = [{"id": group, "name": name} for group, name in self.groups.items()]
        return {"server_groups": found[int(request.qs.get("offset", [0])[0]) :]}

    def make_group(self, request, context):
        name = request.json()["server_group"]["name"]
        if len(self.groups) >= self.most:
            context.status_code = 403
            return {"forbidden": {"message": "Quota exceeded, too many server groups."}}
        if self.fate == "lost":
            raise requests.ConnectionError
        if self.fate == "late":
            self.late.append(name)
            raise requests.ReadTimeout
        group = self.new(name)
        if self.fate == "unanswered":
            raise requests.ReadTimeout
        return {"server_group": {"id": group, "name": name}}

    def new(self, name):
        self.made += 1
        self.groups[f"g{self.made}"] = name
        return f"g{self.made}"

    def boot_servers(self, request, context):
        """The servers come into a group of their job that exists, if they are not too many."""
        hints, size = request.json()["os:scheduler_hints"], request.json()["server"]["min_count"]
        largest = self.conf.manager.largest_server_group
        wanted = largest < 0 or size <= largest
        if "group" in hints:
            assert wanted
            assert self.groups[hints["group"]] == f"twotier-{hints['twotier:job']}"
            if size > self.members:
                self.refused = min(self.refused, size)
                self.crowded.add(hints["twotier:job"])
                context.status_code = 403
                return {"forbidden": {"message": "Quota exceeded, too many servers in group"}}
        else:
            known = len(self.groups) >= self.most or size >= self.refused
            assert not wanted or known or hints["twotier:job"] in self.crowded
        if self.fate == "no servers":
            context.status_code = 503
        return {"server": {"id": "s1"}}

    def delete_group(self, request, context):
        if self.fate == "lost":
            raise requests.ConnectionError
        if self.groups.pop(request.path.rpartition("/")[2], None) is None:
            context.status_code = 404
        if self.fate != "answered":
            raise requests.ReadTimeout
        return ""

    @rule(
        of=jobs,
        fate=st.sampled_from(["answered", "lost", "unanswered", "late", "no servers", "crash"]),
    )
    def boot(self, of, fate):
        first = of.uuid not in self.recorded
        self.recorded.add(of.uuid)
        if fate == "crash":
            self.replaced()  # before the request was made
            return
        self.fate = fate
        try:
            self.managers[0].boot(of, first=first)
        except GroupFull:
            self.asked_again(of)
        except CloudError:
            assert fate != "answered"

    def asked_again(self, of):
        """The manager repeats a refused boot, and creates no group for it."""
        made = self.made
        try:
            self.managers[0].boot(of)
        except CloudError as error:
            assert self.fate != "answered"
            assert not isinstance(error, GroupFull)
        assert made == self.made

    @rule(
        largest=st.sampled_from([-1, 0, 8, 9]),
        most=st.sampled_from([1, 2, 99]),
        members=st.sampled_from([1, 8, 9]),
    )
    def configured(self, largest, most, members):
        self.conf.set_override("largest_server_group", largest, "manager")
        self.most, self.members = most, members

    @rule()
    def carried_out_late(self):
        if self.late:
            self.new(self.late.pop(0))

    @rule()
    def replaced(self):
        self.managers.rotate()
        self.managers[0].begin(Lister())

    @rule()
    def begins_again(self):
        """As with another policy."""
        self.managers[0].begin(Lister())

    @rule(of=jobs, fates=st.lists(st.sampled_from(["lost", "unanswered"]), max_size=2))
    def end(self, of, fates):
        """It is over when the request is answered; the job may then begin anew."""
        if of.uuid not in self.recorded:
            return  # nothing was made for it
        name = f"twotier-{of.uuid}"
        for _late in range(self.late.count(name)):
            self.late.remove(name)
            self.new(name)
        for self.fate in [*fates, "answered"]:
            try:
                self.managers[0].delete_server_group(of)
            except CloudError:
                assert self.fate != "answered"
        assert name not in self.groups.values(), self.groups

    @invariant()
    def none_of_strangers_is_deleted(self):
        assert self.groups[self.stranger] == "stranger"


class TestAnyOrder(CloudCase):
    """No group is left, no job comes into another's, and no quota of groups keeps one from
    starting, whatever fails and whoever leads."""

    def test_any_order(self):
        self.addCleanup(self.conf.clear_override, "largest_server_group", "manager")
        run(
            lambda: Machine(self.conf, self.http),
            settings=settings(max_examples=60, stateful_step_count=15, deadline=None),
        )
