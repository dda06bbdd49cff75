"""The client of the REST API, against the real one."""

import fixtures
import keystoneauth1.fixture
import requests
import requests_mock
import testtools
import urllib3
from keystoneauth1.identity import V3Password
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from nova_twotier.api.versions import OLDEST
from nova_twotier.client import connection, rest
from nova_twotier.client.rest import Api, ApiError
from nova_twotier.db import models
from nova_twotier.db.states import JobState
from tests.unit.api.case import OTHER
from tests.unit.client.case import URL, ClientCase

KEYSTONE = "http://keystone.test/v3"


class TestJobs(ClientCase):
    def test_life_of_a_job(self):
        job = self.api.submit({"size": 2, "name": "solver", "estimate": None})
        self.assertEqual((2, "solver", None), (job["size"], job["name"], job["estimate"]))
        self.assertEqual(job, self.api.job(job["uuid"]))
        self.assertTrue(self.api.hold(job["uuid"])["held"])
        self.assertFalse(self.api.release(job["uuid"])["held"])
        self.assertEqual(1, self.api.explain(job["uuid"])["position"])
        self.change(job, state=JobState.RUNNING)
        self.assertEqual("complete", self.api.complete(job["uuid"])["asked_to"])
        self.assertEqual("cancel", self.api.cancel(job["uuid"])["asked_to"])

    def test_it_speaks_a_version_that_every_api_has(self):
        self.assertEqual(OLDEST, connection.MICROVERSION)

    def test_states_that_are_the_end(self):
        self.assertEqual(set(models.OVER), set(rest.OVER))


class TestPages(ClientCase):
    OPTIONS = "max_limit = 2"

    def setUp(self):
        super().setUp()
        for name in "abcde":
            self.api.submit({"size": 1, "name": name})

    def names(self, **query):
        self.wire.asked.clear()
        return [job["name"] for job in self.api.jobs(**query)]

    def test_all_of_them(self):
        self.assertEqual(list("abcde"), self.names())
        self.assertEqual(3, len(self.wire.asked))

    def test_no_more_than_asked_for(self):
        self.assertEqual(list("abc"), self.names(limit=3))
        self.assertEqual(2, len(self.wire.asked))
        self.assertEqual([], self.names(limit=0))

    def test_filters_hold_on_every_page(self):
        for _ in range(3):
            self.api.submit({"size": 1, "name": "ä&b c"})
        self.assertEqual(["ä&b c"] * 3, self.names(name="ä&b c"))
        self.assertEqual([], self.names(state="running"))

    def test_an_empty_filter_holds_on_every_page(self):
        for name in ("", "", "f", ""):
            self.api.submit({"size": 1, "name": name})
        self.assertEqual([""] * 3, self.names(name=""))

    def test_events(self):
        self.assertEqual(["submitted"] * 5, [event["kind"] for event in self.api.events()])
        [event] = self.api.events(limit=1)
        self.assertEqual(1, len(list(self.api.events(job=event["job"]))))


class TestFinding(ClientCase):
    def submit_named(self, *names):
        return [self.api.submit({"size": 1, "name": name})["uuid"] for name in names]

    def test_by_uuid_and_by_name(self):
        [uuid] = self.submit_named("solver")
        self.assertEqual(uuid, self.api.find("solver")["uuid"])
        self.assertEqual(uuid, self.api.find(uuid)["uuid"])

    def test_an_empty_text_is_not_the_job_without_a_name(self):
        self.submit_named("")
        for text in ("", " "):
            error = self.assertRaises(ApiError, self.api.find, text)
            self.assertIn("an empty text names no job", str(error))

    def test_of_several_the_one_that_is_not_over(self):
        old, new = self.submit_named("nightly", "nightly")
        self.change({"uuid": old}, state=models.JobState.FINISHED)
        self.assertEqual(new, self.api.find("nightly")["uuid"])

    def test_a_name_of_several(self):
        uuids = self.submit_named("a", "a")
        numbers = ", ".join(str(self.api.job(uuid)["number"]) for uuid in uuids)
        error = self.assertRaises(ApiError, self.api.find, "a")
        self.assertEqual(f"2 jobs are called 'a': give the number of one, {numbers}", str(error))

    def test_a_name_of_many(self):
        self.submit_named(*"aaaaaa")
        error = self.assertRaises(ApiError, self.api.find, "a")
        self.assertTrue(str(error).endswith(", ..."), error)

    def test_by_number_and_by_beginning(self):
        uuids = self.submit_named("solver", "")
        for uuid in uuids:
            for name in (str(self.api.job(uuid)["number"]), uuid[:23], uuid[:23].upper()):
                self.assertEqual(uuid, self.api.find(name)["uuid"])

    def test_the_number_of_one_job_and_the_name_of_another(self):
        [one] = self.submit_named("solver")
        number = self.api.job(one)["number"]
        [named] = self.submit_named(str(number))
        error = self.assertRaises(ApiError, self.api.find, str(number))
        self.assertEqual(409, error.status)
        self.assertIn(f"give the uuid of one, {one}, {named}", str(error))

    def test_a_job_that_is_called_by_its_own_number(self):
        [one] = self.submit_named("1")
        self.assertEqual((1, one), (self.api.job(one)["number"], self.api.find("1")["uuid"]))

    def test_a_name_counts_before_a_beginning(self):
        [one] = self.submit_named("solver")
        [far, named] = self.submit_named("999", "beef")
        self.change({"uuid": one}, uuid=f"beef{OTHER[4:]}")
        self.assertEqual(far, self.api.find("999")["uuid"])
        self.assertEqual(named, self.api.find("beef")["uuid"])
        self.assertEqual("solver", self.api.find(f"beef{OTHER[4:8]}-")["name"])

    def test_a_beginning_of_several(self):
        for last, uuid in enumerate(self.submit_named("a", "b")):
            self.change({"uuid": uuid}, uuid=f"{OTHER[:-1]}{last}")
        error = self.assertRaises(ApiError, self.api.find, OTHER[:6])
        self.assertEqual(409, error.status)
        self.assertIn(f"2 uuids begin with {OTHER[:6]}", str(error))

    def test_a_number_of_another_project(self):
        theirs = self.api_of("bob:other").submit({"size": 1})
        error = self.assertRaises(ApiError, self.api.find, str(theirs["number"]))
        self.assertEqual(f"there is no job '{theirs['number']}' in your project", str(error))

    def test_none(self):
        error = self.assertRaises(ApiError, self.api.find, "solver")
        self.assertEqual("there is no job 'solver' in your project", str(error))
        error = self.assertRaises(ApiError, self.api.find, OTHER)
        self.assertEqual("there is no such job in your project (HTTP 404)", str(error))


class TestQueueAndHosts(ClientCase):
    def test_queue(self):
        self.assertEqual("active", self.api.queue()["mode"])
        manager = self.api_of("carol:ops:admin")
        self.assertEqual("paused", manager.change_queue({"mode": "paused"})["mode"])
        self.assertEqual("paused", self.api.queue(all_projects=None)["mode"])


class TestRefusals(ClientCase):
    """What the API says is what the user reads, in one line."""

    def refusal(self, method, *arguments, **options):
        error = self.assertRaises(ApiError, method, *arguments, **options)
        self.assertNotIn("\n", str(error))
        return error

    def test_a_wrong_request(self):
        error = self.refusal(self.api.submit, {"size": 0, "cpu": 2, "colour": "red"})
        self.assertEqual(400, error.status)
        self.assertIn("size: give at least 1", str(error))
        self.assertIn("'colour' is not known", str(error))
        self.assertTrue(str(error).endswith("(HTTP 400)"), error)

    def test_no_token(self):
        error = self.refusal(self.api_of("?").queue)
        self.assertEqual("send the header X-Auth-Token: user:project (HTTP 401)", str(error))

    def test_no_right(self):
        error = self.refusal(self.api.change_queue, {"mode": "paused"})
        self.assertEqual(
            "this needs the role admin (policy rule twotier:queue:update) (HTTP 403)", str(error)
        )
        self.assertEqual(403, error.status)

    def test_a_job_that_is_over(self):
        job = self.api.submit({"size": 1})
        self.change(job, state=models.JobState.FAILED)
        error = self.refusal(self.api.cancel, job["uuid"])
        self.assertEqual("the job is failed: nothing can be asked of it (HTTP 409)", str(error))

    def test_a_service_behind_it_is_down(self):
        error = self.refusal(self.api_of("admin:admin").hosts)
        self.assertEqual(
            "the ledger in Placement does not answer; try again later (HTTP 503)", str(error)
        )
        self.assertTrue(error.passing)

    def test_its_own_mistake_has_an_id_for_the_operator(self):
        def fail():
            raise RuntimeError

        self.store.jobs = lambda **_query: fail()
        error = self.refusal(lambda: list(self.api.jobs()))
        self.assertIn("tell the operator its request id (HTTP 500, req-", str(error))
        self.assertFalse(error.passing)


class TestNotTheApi(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.mocked = requests_mock.Adapter()
        transport = requests.Session()
        transport.mount(URL, self.mocked)
        self.api = Api(Session(auth=Token(URL, "alice:demo"), session=transport))

    def refusal(self):
        return str(self.assertRaises(ApiError, self.api.queue))

    def test_somebody_else_answers(self):
        expected = f"{URL} answered HTTP {{}}, not as the twotier API does: is this its URL?"
        for status, answer in (
            (404, {"json": {"itemNotFound": {"message": "no"}}}),
            (500, {"text": "<html>"}),
            (200, {"text": "<html>"}),
            (200, {"json": [1]}),
            (400, {"json": {"errors": []}}),
            (400, {"json": {"errors": "none"}}),
        ):
            self.mocked.register_uri("GET", f"{URL}/v1/queue", status_code=status, **answer)
            self.assertEqual(expected.format(status), self.refusal())

    def test_a_proxy_has_no_patience_with_the_api(self):
        late = {"status_code": 504, "text": "<h1>504 Gateway Time-out</h1>"}
        self.mocked.register_uri("GET", f"{URL}/v1/queue", **late)
        error = self.assertRaises(ApiError, self.api.queue)
        said = f"{URL} did not answer in time (HTTP 504): try again later"
        self.assertEqual((said, True), (str(error), error.passing))

    def test_a_proxy_gets_no_answer_from_the_api(self):
        for status in (502, 503):
            self.mocked.register_uri(
                "GET", f"{URL}/v1/queue", status_code=status, text="<h1>Bad Gateway</h1>"
            )
            error = self.assertRaises(ApiError, self.api.queue)
            said = f"{URL} got no answer from the twotier API behind it (HTTP {status})"
            self.assertEqual((f"{said}: try again later", True), (str(error), error.passing))

    def test_one_too_many_waits_for_its_turn(self):
        waits, log = [], self.useFixture(fixtures.FakeLogger())
        self.useFixture(fixtures.MonkeyPatch("time.sleep", waits.append))
        late = {"status_code": 429, "headers": {"Retry-After": "7"}}
        hour = {"status_code": 429, "headers": {"Retry-After": "3600"}}
        bare = {"status_code": 429, "json": {}}
        done = {"status_code": 200, "json": {"mode": "active"}}
        self.mocked.register_uri("GET", f"{URL}/v1/queue", [late, hour, bare, done])
        self.assertEqual({"mode": "active"}, self.api.queue())
        self.assertEqual([7.0, connection.LONGEST_WAIT, 1.0], waits)
        self.assertIn("rate limit is reached: trying again in 7 s", log.output)

    def test_not_for_ever(self):
        self.useFixture(fixtures.MonkeyPatch("time.sleep", lambda _seconds: None))
        self.mocked.register_uri("GET", f"{URL}/v1/queue", status_code=429, json={})
        self.assertEqual(429, self.assertRaises(rest.ApiError, self.api.queue).status)
        self.assertEqual(1 + connection.MOST_WAITS, self.mocked.call_count)

    def test_a_job_that_may_be_submitted_all_the_same(self):
        """Who submits it again without a look may have two."""
        aborted = urllib3.exceptions.ProtocolError("Connection aborted.", ConnectionResetError())
        unsent = urllib3.exceptions.NewConnectionError(None, "refused")
        note = "it may have been submitted all the same; before you try again, look with "
        for path, submit in (("jobs", self.api.submit), ("arrays", self.api.submit_array)):
            for answer, known in (
                ({"exc": requests.ConnectionError(aborted)}, False),
                ({"exc": requests.ReadTimeout()}, False),
                ({"status_code": 502, "text": "<html>"}, False),
                ({"status_code": 504, "text": "<html>"}, False),
                ({"exc": requests.ConnectionError(repr(unsent))}, True),
                ({"exc": requests.exceptions.MissingSchema("Invalid URL 'x'")}, True),
                ({"status_code": 503, "text": "<html>"}, True),
            ):
                self.mocked.register_uri("POST", f"{URL}/v1/{path}", **answer)
                error = self.assertRaises(ApiError, submit, {"size": 1})
                self.assertEqual(known, not str(error).startswith(note), error)

    def test_nobody_answers(self):
        self.mocked.register_uri("GET", f"{URL}/v1/queue", exc=requests.ConnectionError("refused"))
        self.assertEqual(
            f"Unable to establish connection to {URL}/v1/queue: refused: "
            "is the twotier API up, and this its URL?",
            self.refusal(),
        )


class TestCatalog(ClientCase):
    """The endpoint of Keystone's catalog; that Keystone is not real."""

    def api_with(self, *services, tokens=(), url=URL):
        """
        :param tokens: Keystone's answers before the one with the token.
        :param url: of the services.
        """
        token = keystoneauth1.fixture.V3Token()
        token.set_project_scope()
        for service in services:
            token.add_service(service).add_standard_endpoints(public=url, region="RegionOne")
        keystone = requests_mock.Adapter()
        keystone.register_uri(
            "POST",
            f"{KEYSTONE}/auth/tokens",
            [*tokens, {"json": token, "headers": {"X-Subject-Token": "bob:demo"}}],
        )
        transport = requests.Session()
        transport.mount(KEYSTONE, keystone)
        transport.mount(URL, self.wire)
        auth = V3Password(
            KEYSTONE,
            username="bob",
            password="x",
            user_domain_id="default",
            project_name="demo",
            project_domain_id="default",
        )
        return Api(Session(auth=auth, session=transport), interface="public")

    def test_the_endpoint_of_the_service_type(self):
        job = self.api_with("compute", "twotier").submit({"size": 1})
        self.assertEqual("bob", job["user_id"])

    def test_an_endpoint_with_the_version(self):
        """As many other services have it: jobs were said not to be there."""
        job = self.api.submit({"size": 1})
        for url in (f"{URL}/v1", f"{URL}/v1/", f"{URL}/"):
            api = self.api_with("twotier", url=url)
            self.assertEqual(job["uuid"], api.find("1")["uuid"], url)
            self.assertEqual("active", api.queue()["mode"])

    def test_no_such_service(self):
        error = self.assertRaises(ApiError, self.api_with("compute").queue)
        self.assertEqual(
            "the cloud's catalog has no service of type twotier: "
            "ask your operator, or give --os-twotier-endpoint",
            str(error),
        )

    def test_a_keystone_that_is_away_for_a_while(self):
        """A long wait needs a new token now and then; if Keystone is away, it may be retried."""
        api = self.api_with("twotier", tokens=[{"status_code": 503}])
        error = self.assertRaises(ApiError, api.queue)
        self.assertEqual(
            (503, True, "Keystone gives no token: Service Unavailable (HTTP 503)"),
            (error.status, error.passing, str(error)),
        )
        self.assertEqual("active", api.queue()["mode"])
