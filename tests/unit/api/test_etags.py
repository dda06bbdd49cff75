"""Answers that are not sent again until something changes."""

import contextlib
import time
from unittest import mock

import fixtures
from sqlalchemy import event

from nova_twotier.api import errors
from nova_twotier.api.site import Site
from nova_twotier.db import drains, terms
from nova_twotier.db.models import Drain
from nova_twotier.db.states import JobState
from tests.unit.api.network import FG
from tests.unit.api.test_pools import Cloud
from tests.unit.api.test_predictions import PredictedCase

OLD = {"OpenStack-API-Version": "twotier 1.0"}
NEW = {"OpenStack-API-Version": "twotier 1.1"}
LISTS = (
    "/v1/jobs",
    "/v1/queue/jobs",
    "/v1/events",
    "/v1/queue",
    "/v1/pools",
    "/v1/hosts",
    "/v1/schedule",
)


class EtagCase(PredictedCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud()
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, self.cloud))

    def fresh(self, path, by="alice:demo"):
        answer = self.get(path, by, headers=NEW)
        self.answered(200, answer)
        return answer

    def tag(self, path, by="alice:demo"):
        return self.fresh(path, by).headers["etag"]

    def status(self, path, tag, by="alice:demo"):
        return self.get(path, by, headers={**NEW, "If-None-Match": tag}).status_code

    def same(self, path, tag, by="alice:demo"):
        return self.status(path, tag, by) == 304


class TestUnchanged(EtagCase):
    def test_every_list(self):
        for path in LISTS:
            first = self.fresh(path)
            self.assertRegex(first.headers["etag"], '^W/"[0-9a-f]{40}"$')
            self.assertEqual("private, no-cache", first.headers["cache-control"])
            for header in ("X-Auth-Token", "OpenStack-API-Version"):
                self.assertIn(header, first.headers["vary"])
            asked = {**NEW, "If-None-Match": f'"other", {first.headers["etag"]}'}
            again = self.get(path, headers=asked)
            self.assertEqual((304, ""), (again.status_code, again.text), path)
            for header in ("etag", "vary", "cache-control", "openstack-api-version"):
                self.assertEqual(first.headers[header], again.headers[header], path)

    def test_behind_a_proxy_that_compresses_answers(self):
        tag = self.tag("/v1/jobs")
        for suffix in ("-gzip", "-br"):
            sent = f'{tag[:-1]}{suffix}"'
            self.assertTrue(self.same("/v1/jobs", sent), sent)
        self.assertFalse(self.same("/v1/jobs", f'{tag[:-1]}-other"'))

    def test_the_same_tag_means_the_same_answer(self):
        self.change(self.job, state=JobState.RUNNING, tier="fg", run_since=self.now - 5.0)
        first = {path: self.fresh(path) for path in LISTS}
        terms.renew(self.store, "default", 1, time.time())  # The heartbeats go on.
        for path in LISTS:
            again = self.fresh(path)
            self.assertEqual(first[path].headers["etag"], again.headers["etag"], path)
            self.assertEqual(first[path].json, again.json, path)

    def test_the_run_time_in_a_list(self):
        self.change(
            self.job, state=JobState.RUNNING, tier="fg", run_since=self.now - 5.0, run_before=7.25
        )
        for headers, elapsed in ((OLD, True), (NEW, False)):
            jobs = self.get("/v1/jobs?name=mine", headers=headers).json["jobs"]
            self.assertEqual(elapsed, jobs[0]["elapsed"] is not None)
            self.assertEqual(7.25, jobs[0]["run_before"])
            self.assertIsNotNone(jobs[0]["run_since"])

    def test_the_heartbeat_of_a_manager_that_is_at_work(self):
        for headers, shown in ((OLD, True), (NEW, False)):
            manager = self.get("/v1/queue", headers=headers).json["manager"]
            self.assertEqual((True, shown), (manager["running"], bool(manager["heartbeat_at"])))
        self.last_beat(self.now - 86400)
        self.assertIsNotNone(self.fresh("/v1/queue").json["manager"]["heartbeat_at"])

    def test_earlier_versions_have_no_tags(self):
        for path in LISTS:
            answer = self.get(path, headers={**OLD, "If-None-Match": self.tag(path)})
            self.answered(200, answer)
            self.assertNotIn("etag", answer.headers)

    def test_only_reads_have_tags(self):
        answer = self.get(f"/v1/jobs/{self.job['uuid']}", headers=NEW)
        self.assertNotIn("etag", answer.headers)

    def test_refusals_have_none(self):
        for path, by in (("/v1/queue?pool=none", "alice:demo"), ("/v1/jobs", "alice:demo:none")):
            answer = self.get(path, by, headers={**NEW, "If-None-Match": "*"})
            self.assertIn(answer.status_code, (403, 404))
            self.assertNotIn("etag", answer.headers)

    def test_a_star_and_nonsense_are_no_tags(self):
        for given in ("*", "nonsense", '"', "W/"):
            self.assertEqual(200, self.status("/v1/jobs", given))


class TestCost(EtagCase):
    """An unchanged answer costs a short query."""

    @contextlib.contextmanager
    def statements(self):
        """The statements that the application makes meanwhile."""
        found = []

        def note(_connection, _cursor, statement, *_rest):
            if not statement.startswith("BEGIN"):
                found.append(statement)

        event.listen(self.store._engine, "before_cursor_execute", note)
        yield found
        event.remove(self.store._engine, "before_cursor_execute", note)

    def test_nothing_else_is_read(self):
        for path, more in (
            ("/v1/jobs?all_projects=true", []),
            ("/v1/queue/jobs?all_projects=true", []),
            ("/v1/events?all_projects=true", []),
            ("/v1/queue?all_projects=true", []),
            ("/v1/schedule", []),
            ("/v1/pools", []),
        ):
            tag = self.tag(path, "admin")
            asked = len(self.cloud.asked)
            with self.statements() as found:
                self.assertTrue(self.same(path, tag, "admin"), path)
            [revision, *rest] = sorted(found, key=lambda each: "FROM event" not in each)
            self.assertIn("FROM event", revision)
            self.assertNotIn("FROM job", revision)
            self.assertEqual(more, [each.split("FROM ")[1].split()[0] for each in rest])
            self.assertEqual(asked, len(self.cloud.asked), "Placement is asked again")

    def test_of_hosts_only_what_time_alone_begins_and_ends(self):
        tag = self.tag("/v1/hosts", "admin")
        self.submit()  # Hosts do not change with the jobs.
        asked = len(self.cloud.asked)
        with self.statements() as found:
            self.assertTrue(self.same("/v1/hosts", tag, "admin"))
        self.assertEqual(["drain"], [each.split("FROM ")[1].split()[0] for each in found])
        self.assertEqual(asked, len(self.cloud.asked), "Placement is asked again")

    def test_readers_who_see_the_same_share_an_answer(self):
        shared = ("/v1/jobs", "/v1/queue/jobs", "/v1/schedule")
        for path, first, second in (
            *((path, "alice:demo", "zoe:demo:reader") for path in shared),
            *((f"{path}?all_projects=true", "admin", "root:ops:admin") for path in shared[:2]),
            ("/v1/schedule", "admin", "root:ops:admin"),
            ("/v1/hosts", "admin", "root:ops:admin"),
        ):
            before = self.fresh(path, first)
            with self.statements() as found:
                after = self.fresh(path, second)
            self.assertLess(len(found), 2, path)
            self.assertEqual(before.json, after.json)
            self.assertEqual(before.headers["etag"], after.headers["etag"])
            self.assertEqual(before.headers["content-type"], after.headers["content-type"])

    def test_others_share_none(self):
        self.change(self.theirs, state=JobState.RUNNING)
        self.hold_slot(self.theirs, 0, since=self.now - 5.0)
        callers = ("alice:demo", "bob:other", "admin", "root:ops:admin")
        for path, mine in (("/v1/jobs", 4), ("/v1/queue/jobs", 4), ("/v1/schedule", 3)):
            answers = {by: self.fresh(path, by) for by in callers}
            self.assertEqual(mine, len({each.headers["etag"] for each in answers.values()}), path)
            self.assertNotIn("secret", answers["alice:demo"].text)
            self.assertIn("secret", answers["bob:other"].text)
        for by in callers[:2]:
            refused = self.get("/v1/jobs?all_projects=true", by, headers=NEW)
            self.assertEqual(403, refused.status_code)


class TestStale(EtagCase):
    def test_only_who_wants_it_gets_an_answer_of_just_now(self):
        stale = {**NEW, "Cache-Control": "max-stale=10"}
        before = self.get("/v1/jobs", headers=stale)
        self.submit()
        self.assertEqual(before.json, self.get("/v1/jobs", headers=stale).json)
        again = {**stale, "If-None-Match": before.headers["etag"]}
        self.assertEqual(304, self.get("/v1/jobs", headers=again).status_code)
        for headers in (NEW, {**NEW, "Cache-Control": "max-stale=0"}, stale):
            # Whoever has it made anew has it made for all.
            self.assertNotEqual(before.json, self.get("/v1/jobs", headers=headers).json)


class TestChanged(EtagCase):
    def changes(self, path, what, by="alice:demo"):
        tag = self.tag(path, by)
        self.assertTrue(self.same(path, tag, by), path)
        what()
        self.assertEqual(200, self.status(path, tag, by), path)

    def lead(self, **values):
        """What a leader does to the job: no event tells of it."""
        self.change(self.job, **values)
        with self.store.transaction() as session:
            terms.require(session, "default", 1, lock=True)

    def test_whatever_the_api_writes(self):
        for path in LISTS:
            if path == "/v1/hosts":
                continue
            self.changes(path, self.submit)
            self.changes(path, lambda: self.ask("POST", f"/v1/jobs/{self.submit()['uuid']}/hold"))
        self.changes("/v1/queue", lambda: self.store.set_queue_mode("default", "paused"))

    def test_what_a_leader_writes(self):
        self.changes("/v1/jobs", lambda: self.lead(queue_offset=5.0))
        self.changes("/v1/schedule", lambda: self.lead(state=JobState.RUNNING))

    def test_a_prediction_that_time_has_made_wrong(self):
        self.predict(self.job)
        self.predict_pool()
        for path in ("/v1/jobs", "/v1/schedule"):
            self.predict_pool()
            self.changes(path, lambda: self.predict_pool(lasting=0.5))

    def test_a_manager_that_is_gone(self):
        for path in ("/v1/jobs", "/v1/queue", "/v1/schedule"):
            self.last_beat(time.time())
            self.changes(path, lambda: self.last_beat(self.now - 86400))

    def test_what_placement_says(self):
        for used, path in enumerate(("/v1/pools", "/v1/hosts"), start=1):
            tag = self.tag(path)
            self.cloud.held = {("a", FG): used}
            self.application = self.make()[1]  # The last one keeps the answer for a while.
            self.assertEqual(200, self.status(path, tag))

    def test_placement_goes_away_and_comes_back(self):
        """Without it nobody knows whether the answer is still true."""
        tag = self.tag("/v1/hosts")

        def refuse(_url):
            raise errors.unavailable("Placement")

        for away, status in ((True, 503), (False, 304)):
            with mock.patch.object(self.cloud, "get", refuse if away else self.cloud.get):
                self.application = self.make()[1]  # The last one keeps the answer for a while.
                self.assertEqual(status, self.status("/v1/hosts", tag))

    def test_a_drain_that_begins(self):
        now = time.time()
        self.changes("/v1/hosts", lambda: drains.drain(self.store, "a", now, since=now + 900))

        def begin():
            with self.store.transaction() as session:
                session.get(Drain, "a").since = self.now - 1

        self.changes("/v1/hosts", begin)


class TestWhose(EtagCase):
    def test_readers_queries_and_hosts_differ(self):
        for path in LISTS:
            callers = ["alice:demo", "alice:other"]
            if path in ("/v1/events", "/v1/queue", "/v1/pools"):
                callers += ["alice:demo:reader", "bob:demo"]
            if path not in ("/v1/jobs", "/v1/queue/jobs"):
                callers.append("alice:demo:admin")
            tags = [self.tag(path, by) for by in callers]
            if path not in ("/v1/queue", "/v1/pools"):
                tags.append(self.tag(f"{path}?limit=1"))
            if path in ("/v1/jobs", "/v1/queue/jobs", "/v1/events", "/v1/queue"):
                tags.append(self.tag(f"{path}?all_projects=true", "alice:demo:admin"))
            elsewhere = self.get(path, headers=NEW, host="127.0.0.1")
            tags.append(elsewhere.headers["etag"])
            self.assertEqual(len(tags), len(set(tags)), path)

    def test_other_rules(self):
        tag = self.tag("/v1/schedule")
        (self.directory / "policy.yaml").write_text('"twotier:hosts:list:names": "@"\n')
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {self.directory}/policy.yaml"
        self.application = self.make()[1]
        self.assertEqual(200, self.status("/v1/schedule", tag))

    def test_other_options(self):
        tag = self.tag("/v1/queue")
        self.OPTIONS = "max_jobs_per_project = 7"
        self.application = self.make()[1]
        self.assertEqual(200, self.status("/v1/queue", tag))
