"""Jobs through the API, by somebody who may."""

from sqlalchemy import select

from nova_twotier.core.reasons import Effect, changes, failures, waits
from nova_twotier.db import deliveries
from nova_twotier.db.models import BUS, Action, Delivery
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.states import ActionKind, JobState
from tests.unit.api.case import OTHER, ApiCase


class TestSubmitting(ApiCase):
    def test_a_job_in_full(self):
        answer = self.ask(
            "POST",
            "/v1/jobs",
            json={"size": 2, "cpu": [0.4, 0.9], "name": "solver", "estimate": 3600, "held": True},
        )
        job = self.answered(201, answer)
        self.assertEqual(f"http://localhost/v1/jobs/{job['uuid']}", answer.headers["location"])
        self.assertEqual(job, self.answered(200, self.get(f"/v1/jobs/{job['uuid']}")))
        expected = {
            "name": "solver",
            "project_id": "demo",
            "user_id": "alice",
            "size": 2,
            "cpu": [0.4, 0.9],
            "estimate": 3600,
            "state": "queued",
            "tier": None,
            "held": True,
            "saved": False,
            "start": None,
            "asked_to": None,
            "reason": "held until it is released",
            "started_at": None,
            "finished_at": None,
            "failures": 0,
        }
        self.assertEqual(expected, {name: job[name] for name in expected})
        kept = self.store.find(job["uuid"])
        self.assertEqual(("demo", "alice", True), (kept.project_id, kept.user_id, kept.held))

    def test_what_is_not_said(self):
        job = self.submit(size=3)
        self.assertEqual((None, None, None), (job["cpu"], job["learned_cpu"], job["measured_cpu"]))
        self.assertEqual(("", None, False), (job["name"], job["estimate"], job["held"]))

    def test_what_it_boots_and_how_it_may_end(self):
        said = {
            "pool": "default",
            "flavor": "m1.größe",
            "image": OTHER,
            "networks": [OTHER, OTHER],
            "key_name": "my key",
            "keep_servers": True,
            "bandwidth": 12.5,
            "preemption": "requeue",
            "checkpoint": True,
            "walltime": 0.5,
            "retries": 0,
        }
        job = self.submit(**said)
        self.assertEqual(said, {name: job[name] for name in said})
        self.assertEqual(job, self.get(f"/v1/jobs/{job['uuid']}").json)
        [listed] = self.get("/v1/jobs").json["jobs"]
        self.assertEqual(said, {name: listed[name] for name in said})

    def test_guests_that_are_told_who_they_are(self):
        job = self.submit(peers=True)
        self.assertTrue(job["peers"])
        self.assertEqual(True, self.store.find(job["uuid"]).peers)
        self.assertFalse(self.submit()["peers"])

    def test_a_report_of_its_end(self):
        job = self.submit(report_token="0123456789abcdef")
        self.assertEqual((True, None), (job["reports"], job["exit_status"]))
        self.assertNotIn("0123456789abcdef", str(job))
        with self.store.transaction() as session:
            session.merge(self.store.find(job["uuid"])).exit_status = 3
        [listed] = self.get("/v1/jobs").json["jobs"]
        for shown in (self.get(f"/v1/jobs/{job['uuid']}").json, listed):
            self.assertEqual(3, shown["exit_status"])

    def test_null_is_as_if_nothing_were_said(self):
        unsaid = ("flavor", "image", "networks", "key_name", "user_data", "walltime", "estimate")
        for job in (self.submit(), self.submit(**dict.fromkeys(unsaid))):
            kept = self.store.find(job["uuid"])
            self.assertEqual({None}, {getattr(kept, name) for name in unsaid})
            shown = {name: job[name] for name in ("pool", "preemption", "bandwidth", "walltime")}
            expected = {"pool": "default", "preemption": "shelve", "bandwidth": 0, "walltime": None}
            self.assertEqual(expected, shown)
            self.assertEqual((False, False), (job["keep_servers"], job["checkpoint"]))
            self.assertEqual((3, 0), (job["retries"], job["requeues"]))

    def test_networks(self):
        upper = OTHER.upper()
        for said, kept, shown in (
            ("none", ["none"], "none"),
            ("auto", ["auto"], "auto"),
            ([upper], [OTHER], [OTHER]),
            (None, None, None),
        ):
            job = self.submit(networks=said)
            self.assertEqual(kept, self.store.find(job["uuid"]).networks)
            self.assertEqual(shown, job["networks"])
        self.assertEqual(OTHER, self.submit(image=upper)["image"])

    def test_user_data_is_kept_and_not_shown(self):
        secret = "czNjcmV0LXMzY3JldA=="
        job = self.submit(user_data=secret)
        self.assertEqual(secret, self.store.find(job["uuid"]).user_data)
        self.assertTrue(job["has_user_data"])
        self.assertFalse(self.submit()["has_user_data"])
        its = f"/v1/jobs/{job['uuid']}"
        for path in (its, f"{its}/explain", "/v1/jobs", "/v1/events", "/v1/queue"):
            for token in ("alice:demo", "admin:demo"):
                answer = self.get(path, token)
                self.answered(200, answer)
                self.assertNotIn(secret, answer.text)
        self.assertNotIn(secret, self.logged.output)
        self.assertEqual(
            65532, len(self.store.find(self.submit(user_data="QUJD" * 16383)["uuid"]).user_data)
        )

    def test_a_whole_number_may_have_a_point(self):
        self.assertEqual(2, self.submit(size=2.0, cpu=1)["size"])
        self.assertEqual(1, self.submit(retries=1.0)["retries"])

    def test_times_are_utc(self):
        job = self.submit()
        self.change(job, submitted_at=0.0, started_at=1.5)
        shown = self.get(f"/v1/jobs/{job['uuid']}").json
        self.assertEqual("1970-01-01T00:00:00.000+00:00", shown["submitted_at"])
        self.assertEqual("1970-01-01T00:00:01.500+00:00", shown["started_at"])


class TestListing(ApiCase):
    OPTIONS = "max_limit = 3"

    def names(self, path, **rest):
        return [job["name"] for job in self.answered(200, self.get(path, **rest))["jobs"]]

    def test_pages(self):
        for name in "abcde":
            self.submit(name=name)
        found, path, pages = [], "/v1/jobs?limit=2", 0
        while path:
            page = self.answered(200, self.get(path))
            found += [job["name"] for job in page["jobs"]]
            pages += 1
            path = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
            path = path and path.removeprefix("http://localhost")
        self.assertEqual((list("abcde"), 3), (found, pages))

    def test_no_page_is_larger_than_the_operator_says(self):
        for name in "abcd":
            self.submit(name=name)
        for path in ("/v1/jobs", "/v1/jobs?limit=1000000000000000000000"):
            page = self.answered(200, self.get(path))
            self.assertEqual(3, len(page["jobs"]))
            self.assertEqual("next", page["links"][0]["rel"])

    def test_the_last_page_links_nowhere(self):
        self.submit()
        self.assertEqual([], self.get("/v1/jobs?limit=1").json["links"])

    def test_filters(self):
        first = self.submit(name="a b&c")
        self.submit(name="other")
        self.change(first, state=JobState.RUNNING, tier="fg")
        self.assertEqual(["a b&c"], self.names("/v1/jobs?state=running"))
        self.assertEqual(["other"], self.names("/v1/jobs?state=queued"))
        self.assertEqual(["a b&c"], self.names("/v1/jobs", params={"name": "a b&c"}))
        self.assertEqual([], self.names("/v1/jobs?name=a"))

    def test_more_filters(self):
        for by, name in (("alice:demo", "a1"), ("bob:demo", "a2"), ("bob:demo", "b1")):
            job = self.submit(by, name=name)
        self.change(job, state=JobState.FINISHED, finished_at=0.0)
        for query, expected in {
            "sort_dir=desc": ["b1", "a2", "a1"],
            "state=queued,running": ["a1", "a2"],
            "active=true": ["a1", "a2"],
            "active=false": ["b1"],
            "since=1970-01-01T00:00:00Z": ["a1", "a2", "b1"],
            "since=1970-01-01T00:00:01Z": ["a1", "a2"],
            "name_pattern=?1": ["a1", "b1"],
            "user_id=bob": ["a2", "b1"],
        }.items():
            self.assertEqual(expected, self.names(f"/v1/jobs?{query}"), query)

    def test_wrong_filters(self):
        for query, expected in {
            "state=queued,asleep": "state.1: give one of queued,",
            "sort_dir=down": "sort_dir: give one of asc, desc",
            "limit=-1": "limit: give at least 1",
            "limit=0": "limit: give at least 1",
            "since=yesterday": "since: give a time with its zone",
        }.items():
            [detail] = self.refused(400, "request.invalid", self.get(f"/v1/jobs?{query}"))
            self.assertTrue(detail.startswith(expected), detail)

    def test_how_long_it_has_run(self):
        job = self.submit()
        self.assertEqual(0, job["elapsed"])
        self.change(job, run_before=5.0, run_since=100.0, finished_at=107.5)
        self.assertEqual(12.5, self.get(f"/v1/jobs/{job['uuid']}").json["elapsed"])
        self.change(job, run_since=4e9, finished_at=None)
        [listed] = self.get("/v1/jobs").json["jobs"]
        self.assertEqual(5, listed["elapsed"])

    def test_the_next_page_keeps_the_states(self):
        for _ in range(3):
            self.submit()
        [link] = self.get("/v1/jobs?state=queued,running&sort_dir=desc&limit=2").json["links"]
        page = self.answered(200, self.get(link["href"].removeprefix("http://localhost")))
        self.assertEqual(1, len(page["jobs"]))

    def test_the_next_page_keeps_the_filters(self):
        for _ in range(3):
            self.submit(name="ä&b")
        link = self.get("/v1/jobs", params={"name": "ä&b", "limit": 1}).json["links"][0]["href"]
        page = self.get(link.removeprefix("http://localhost")).json
        self.assertEqual(["ä&b"], [job["name"] for job in page["jobs"]])

    def test_a_marker_that_is_no_job(self):
        [detail] = self.refused(400, "request.invalid", self.get(f"/v1/jobs?marker={OTHER}"))
        self.assertIn("start again from the first page", detail)


class TestActions(ApiCase):
    def setUp(self):
        super().setUp()
        self.job = self.submit()
        self.path = f"/v1/jobs/{self.job['uuid']}"

    def test_cancel(self):
        self.assertEqual("cancel", self.answered(202, self.ask("DELETE", self.path))["asked_to"])
        self.assertEqual("cancel", self.store.find(self.job["uuid"]).requested_action)

    def test_complete(self):
        self.change(self.job, state=JobState.RUNNING)
        answer = self.ask("POST", f"{self.path}/complete")
        self.assertEqual("complete", self.answered(202, answer)["asked_to"])
        self.assertEqual("complete", self.store.find(self.job["uuid"]).requested_action)

    def test_a_job_that_has_not_started_is_not_completed(self):
        """It would be finished without having run, and jobs after its success would start."""
        for held in (False, True):
            self.change(self.job, held=held)
            answer = self.ask("POST", f"{self.path}/complete")
            [detail] = self.refused(409, "job.not_started", answer)
            self.assertEqual("the job has not started: cancel it instead", detail)
        self.assertIsNone(self.store.find(self.job["uuid"]).requested_action)

    def test_a_preempted_job_is_completed(self):
        self.change(self.job, saved=True)
        answer = self.ask("POST", f"{self.path}/complete")
        self.assertEqual("complete", self.answered(202, answer)["asked_to"])

    def test_hold_and_release(self):
        for _twice in range(2):
            held = self.answered(200, self.ask("POST", f"{self.path}/hold"))
            self.assertEqual((True, "held until it is released"), (held["held"], held["reason"]))
        for _twice in range(2):
            self.assertFalse(self.answered(200, self.ask("POST", f"{self.path}/release"))["held"])
        self.assertFalse(self.store.find(self.job["uuid"]).held)

    def test_nothing_can_be_asked_of_a_job_that_is_over(self):
        self.change(self.job, state=JobState.FINISHED)
        for method, path in (
            ("DELETE", self.path),
            ("POST", f"{self.path}/complete"),
            ("POST", f"{self.path}/hold"),
            ("POST", f"{self.path}/release"),
            ("POST", f"{self.path}/requeue"),
        ):
            [detail] = self.refused(409, "job.over", self.ask(method, path))
            self.assertEqual("the job is finished: nothing can be asked of it", detail)
        kept = self.store.find(self.job["uuid"])
        self.assertEqual((None, False), (kept.requested_action, kept.held))

    def test_ids_are_told_from_nonsense(self):
        for path in (f"/v1/jobs/{OTHER}", f"/v1/jobs/{OTHER}/explain"):
            self.refused(404, "job.not_found", self.get(path))
        for path in ("/v1/jobs/999", "/v1/jobs/..%2f", "/v1/jobs/'%20or%201=1", "/v1/jobs/%00"):
            self.refused(404, "job.not_found", self.get(path))


class TestExplaining(ApiCase):
    def explain(self, job, by="alice:demo"):
        return self.answered(200, self.get(f"/v1/jobs/{job['uuid']}/explain", by))

    def test_a_run_time_from_history(self):
        job = self.submit()
        self.assertIsNone(self.get(f"/v1/jobs/{job['uuid']}").json["estimate_from_history"])
        self.change(job, predicted=90.5, predicted_from=4)
        shown = self.get(f"/v1/jobs/{job['uuid']}").json
        self.assertEqual({"seconds": 90.5, "similar_jobs": 4}, shown["estimate_from_history"])
        self.assertIsNone(shown["estimate"])
        self.change(job, estimate=60.0)
        self.assertIsNone(self.get(f"/v1/jobs/{job['uuid']}").json["estimate_from_history"])

    def test_fair_share_puts_jobs_back(self):
        first, second = self.submit(), self.submit()
        self.assertIsNone(self.get(f"/v1/jobs/{first['uuid']}").json["queue_offset"])
        self.change(first, queue_offset=3600.0)
        self.assertEqual(3600.0, self.get(f"/v1/jobs/{first['uuid']}").json["queue_offset"])
        self.assertEqual([2, 1], [self.explain(job)["position"] for job in (first, second)])

    def test_positions_are_counted_over_all_projects_without_the_held(self):
        for token in ("bob:other", "alice:demo"):
            self.submit(token)
        held = self.submit(held=True)
        last = self.submit()
        self.assertEqual(3, self.explain(last)["position"])
        self.assertIsNone(self.explain(held)["position"])
        self.store.hold(self.store.find(held["uuid"]).number, False)
        self.assertEqual(4, self.explain(held)["position"])
        self.assertEqual(3, self.explain(last)["position"])
        self.change(last, state=JobState.RUNNING, tier="bg")
        running = self.explain(last)
        self.assertEqual((None, "runs in the background"), (running["position"], running["reason"]))

    def test_reasons(self):
        job, needs = self.submit(), waits.SLOTS(size=4, idle=1)
        asked = "a user asked to cancel it"
        for reason, values in (
            ("waits; the manager has not decided about it yet", {}),
            (f"{needs}", {"reason": needs}),
            (f"{needs}; its state is saved", {"saved": True}),
            ("held until it is released; its state is saved", {"held": True}),
            (
                "preempted by a job that is no longer recorded, state saved",
                {"held": False, "reason": changes.PREEMPTED(99).led_to(Effect.SAVED)},
            ),
            ("its servers are being built", {"state": JobState.STARTING}),
            ("runs in the foreground", {"state": JobState.RUNNING, "tier": "fg"}),
            (f"runs in the foreground; {asked}", {"requested_action": "cancel"}),
            (f"is being preempted; {asked}", {"state": JobState.PREEMPTING}),
            (
                f"is ending, its servers are being deleted; {asked}",
                {"state": JobState.ENDING},
            ),
            (
                "is failed: its servers are off",
                {
                    "state": JobState.FAILED,
                    "reason": failures.SERVERS_OFF(),
                    "requested_action": None,
                },
            ),
        ):
            self.change(job, **values)
            self.assertEqual(reason, self.explain(job)["reason"])

    def test_servers_that_are_kept(self):
        deleted = "is ending, its servers are being deleted"
        for keep, then, reason in (
            (True, JobState.FINISHED, "is ending, its servers are being shelved, to be kept"),
            (True, JobState.QUEUED, deleted),
            (False, JobState.FINISHED, deleted),
        ):
            job = self.submit(keep_servers=keep)
            self.change(job, state=JobState.ENDING)
            plan = EndPlan(then, None, 1.0)
            with self.store.transaction() as session:
                session.add(
                    Action(
                        kind=ActionKind.END, phase=0, job=job["number"], plan=plan, created_at=1.0
                    )
                )
            self.assertEqual(reason, self.explain(job)["reason"])

    def test_events(self):
        job = self.submit()
        self.happen(job, "started", at=2e9, reason=changes.IMMEDIATE(tier="fg"))
        self.assertEqual(
            [("submitted", ""), ("started", "in the foreground, immediately")],
            [(event["kind"], event["detail"]) for event in self.explain(job)["events"]],
        )

    def test_only_the_last_events(self):
        job = self.submit()
        for number in range(101):
            self.happen(job, "waits", str(number), at=2e9 + number)
        told = [event["detail"] for event in self.explain(job)["events"]]
        self.assertEqual([str(number) for number in range(1, 101)], told)


class TestWebhooks(ApiCase):
    OPTIONS = """
[job_events]
allowed_webhooks = https://hooks.example.org/a, http://chat.test:8080/
transport_url = fake://
"""
    KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    def ask_for(self, url, key=KEY):
        body = {"size": 1, "webhook": url, "webhook_secret": key}
        return self.ask("POST", "/v1/jobs", json=body)

    def test_its_secrets_are_not_shown(self):
        job = self.answered(201, self.ask_for("http://chat.test:8080/token?key=s3cret"))
        shown = self.get(f"/v1/jobs/{job['uuid']}")
        expected = {"origin": "http://chat.test:8080", "undelivered": 1, "error": None}
        self.assertEqual(expected, shown.json["webhook"])
        listed = self.get("/v1/jobs")
        explained = self.get(f"/v1/jobs/{job['uuid']}/explain")
        for answer in (shown, listed, explained):
            self.assertNotIn("s3cret", answer.text)
            self.assertNotIn(self.KEY, answer.text)

    def test_why_the_last_attempt_failed(self):
        job = self.answered(201, self.ask_for("https://hooks.example.org/a"))
        claim = deliveries.claim(self.store, "demo https://hooks.example.org", 2.0**40)
        deliveries.failed(self.store, claim, "the webhook answered with HTTP status 500")
        shown = self.get(f"/v1/jobs/{job['uuid']}").json["webhook"]
        self.assertEqual(
            (1, "the webhook answered with HTTP status 500"), (shown["undelivered"], shown["error"])
        )

    def test_none(self):
        self.assertIsNone(self.submit()["webhook"])

    def test_not_allowed(self):
        [detail] = self.refused(400, "request.invalid", self.ask_for("https://evil.test/"))
        self.assertEqual(
            "webhook: give a URL that begins with https://hooks.example.org/a or "
            "http://chat.test:8080/",
            detail,
        )

    def test_a_weak_key(self):
        answer = self.ask_for("https://hooks.example.org/a", "whsec_short")
        [detail] = self.refused(400, "request.invalid", answer)
        self.assertIn("webhook_secret: give a key of 24 to 64 random bytes", detail)
        self.assertNotIn("whsec_short", answer.text)

    def test_all_jobs_are_published(self):
        job = self.submit()
        with self.store.reading() as session:
            routes = list(session.scalars(select(Delivery.route)))
        self.assertEqual([BUS], routes)
        self.assertIsNone(job["webhook"])
