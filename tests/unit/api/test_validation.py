"""What is not as the schema says is refused, and the answer says what to do."""

import json
import sys

from tests.unit.api.case import OTHER, ApiCase


class TestBodies(ApiCase):
    def wrong(self, body, **rest):
        body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        headers = {"Content-Type": "application/json"}
        answer = self.ask("POST", "/v1/jobs", headers=headers, body=body, **rest)
        details = self.refused(400, "request.invalid", answer)
        self.assertEqual([], self.store.jobs())
        return details

    def test_each_field(self):
        for body, detail in (
            ({}, "size is missing"),
            ({"size": "2"}, "size: give a whole number"),
            ({"size": 1.5}, "size: give a whole number"),
            ({"size": True}, "size: give a whole number"),
            ({"size": 0}, "size: give at least 1"),
            ({"size": -(10**400)}, "size: give at least 1"),
            ({"size": 10**9}, "size: give at most 1000000"),
            ({"size": 1, "name": "n" * 256}, "name: give at most 255 characters"),
            ({"size": 1, "name": None}, "name: give a text"),
            ({"size": 1, "estimate": -1}, "estimate: give more than 0, or null"),
            ({"size": 1, "estimate": 1e300}, "estimate: give at most 1000000000"),
            ({"size": 1, "estimate": 0}, "estimate: give more than 0, or null"),
            ({"size": 1, "estimate": "1"}, "estimate: give a number or null"),
            ({"size": 1, "held": "no"}, "held: give true or false"),
            ({"size": 2, "cpu": [0.5]}, "cpu: give 2 values, one for each process"),
            ({"size": 1, "cpu": 1.5}, "cpu: give at most 1"),
            ({"size": 1, "cpu": [0.5, -0.1]}, "cpu.1: give at least 0"),
            ({"size": 2, "cpu": ["x", 1]}, "cpu.0: give a number"),
            ({"size": 1, "cpu": []}, "cpu: give at least 1"),
            ([], "give an object"),
        ):
            [found] = self.wrong(body)
            self.assertTrue(found.startswith(detail), found)
        for cpu in ("0.5", {}):
            [found] = self.wrong({"size": 1, "cpu": cpu})
            self.assertIn("0 to 1, of every process, or a list with one for each", found)

    def test_each_field_of_what_is_booted(self):
        for field, value, detail in (
            ("pool", None, "give a text"),
            ("pool", "", "give a text that is not empty"),
            ("pool", "p" * 256, "give at most 255 characters"),
            ("pool", "gpu", "there is none of that name, only default"),
            ("flavor", "", "give a text that is not empty"),
            ("flavor", "f" * 256, "give at most 255 characters"),
            ("flavor", "a\nb", "give a text without control characters"),
            ("flavor", 7, "give a text or null"),
            ("image", "cirros", "give a uuid"),
            ("networks", "private", "A list of uuids of networks, or `none`, or `auto`"),
            ("networks", {}, "A list of uuids of networks, or `none`, or `auto`"),
            ("networks", [], "give at least 1"),
            ("networks", [OTHER] * 65, "give at most 64"),
            ("key_name", "", "give a text that is not empty"),
            ("user_data", "", "give a text that is not empty"),
            ("user_data", "#!/bin/sh", "give a text in base64, in one line"),
            ("user_data", "QUJ", "give a text in base64, in one line"),
            ("user_data", "QUJD\n", "give a text in base64, in one line"),
            ("user_data", "ä" * 4, "give a text in base64, in one line"),
            ("user_data", "A" * 65536, "give at most 65535 characters"),
            ("keep_servers", 1, "give true or false"),
            ("checkpoint", "yes", "give true or false"),
        ):
            [found] = self.wrong({"size": 1, field: value})
            self.assertTrue(found.startswith(f"{field}: {detail}"), found)
        for wrong in ("private", 7):
            [found] = self.wrong({"size": 1, "networks": [OTHER, wrong]})
            self.assertTrue(found.startswith("networks.1: give a "), found)

    def test_each_field_of_how_it_runs(self):
        for field, value, detail in (
            ("bandwidth", -1, "give at least 0"),
            ("bandwidth", 1e7, "give at most 1000000"),
            ("bandwidth", None, "give a number"),
            ("preemption", "kill", "give one of shelve, suspend, requeue"),
            ("preemption", None, "give one of shelve, suspend, requeue"),
            ("walltime", 0, "give more than 0, or null"),
            ("walltime", 1e10, "give at most 1000000000"),
            ("walltime", "1h", "give a number or null"),
            ("retries", -1, "give at least 0"),
            ("retries", 101, "give at most 100"),
            ("retries", 0.5, "give a whole number"),
            ("retries", None, "give a whole number"),
            ("report_token", "short", "give a text that matches ^[A-Za-z0-9_-]{16,64}$"),
        ):
            [found] = self.wrong({"size": 1, field: value})
            self.assertEqual(f"{field}: {detail}", found)

    def test_all_mistakes_at_once(self):
        self.assertEqual(
            [
                "'colour' is not known; /v1/openapi.json lists all that there are",
                "name: give a text",
                "size: give at least 1",
            ],
            self.wrong({"size": 0, "name": 3, "colour": "red"}),
        )

    def test_a_slip_of_the_pen(self):
        [found] = self.wrong({"size": 1, "keep_server": True})
        self.assertEqual("'keep_server' is not known; did you mean keep_servers?", found)

    def test_webhooks(self):
        key = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        for given, detail in (
            ({"webhook": "https://a.test/"}, "webhook: give webhook and webhook_secret together"),
            ({"webhook_secret": key}, "webhook: give webhook and webhook_secret together"),
            (
                {"webhook": "https://a.test/", "webhook_secret": key},
                "webhook: the operator allows none",
            ),
        ):
            self.assertEqual([detail], self.wrong({"size": 1, **given}))

    def test_what_came_in_is_not_sent_back(self):
        details = self.wrong({"size": 1, **{f"{number}" * 100: 1 for number in range(50)}})
        self.assertEqual(10, len(details))
        self.assertLess(max(map(len, details)), 300)

    def test_what_is_not_json(self):
        for body, words in (
            ("", "the body is empty"),
            ("{", "in line 1, column 2"),
            ('{"size": 1, "cpu": NaN}', "NaN is not a number in JSON"),
            ('{"size": 1, "estimate": Infinity}', "Infinity is not a number in JSON"),
            ('{"size": 1, "estimate": 1e999}', "estimate: give at most"),
            ('{"size": 1, "size": 2}', "a name occurs twice"),
            ('{"size": 1, "name": "\\ud800"}', "half a character"),
            (b'{"size": 1, "name": "\xff"}', "not UTF-8"),
            ('{"size": ' + "9" * 5000 + "}", "not JSON"),
            ('{"size": 1, "cpu": ' + "[" * 40000 + "]" * 40000 + "}", "nested too deeply"),
        ):
            [detail] = self.wrong(body)
            self.assertIn(words, detail)

    def test_bodies_of_any_depth(self):
        most = sys.getrecursionlimit()
        for depth in range(most * 3 // 4, most):
            [detail] = self.wrong('{"size": 1, "cpu": ' + "[" * depth + "]" * depth + "}")
            self.assertRegex(detail, "nested too deeply|^cpu")

    def test_names_that_spoil_tables(self):
        for name in ("a\nb", "\x00", "\x7f"):
            [detail] = self.wrong({"size": 1, "name": name})
            self.assertTrue(
                detail.startswith("name: give a text without control characters"), detail
            )
        for name in (" ", " \u00a0\u2003 "):
            [detail] = self.wrong({"size": 1, "name": name})
            self.assertIn("and not only spaces", detail)
        for name in ("", " a ", "a b"):
            self.assertEqual(name, self.submit(name=name)["name"])

    def test_content_types(self):
        for kind in ("text/plain", "application/jsonx", ""):
            answer = self.ask(
                "POST", "/v1/jobs", headers={"Content-Type": kind}, body='{"size": 1}'
            )
            self.refused(415, "request.unsupported_media_type", answer)
        headers = {"Content-Type": "Application/JSON; charset=utf-8"}
        answer = self.ask("POST", "/v1/jobs", headers=headers, body='{"size": 1}')
        self.answered(201, answer)

    def test_bodies_that_are_too_large(self):
        headers = {"Content-Type": "application/json"}
        answer = self.ask("POST", "/v1/jobs", headers=headers, body=" " * 200000)
        self.refused(413, "request.request_entity_too_large", answer)
        self.assertEqual("Request Entity Too Large", answer.json["errors"][0]["title"])


class TestQueries(ApiCase):
    def test_each_parameter(self):
        for query, detail in (
            ("colour=red", "'colour' is not known; /v1/openapi.json lists all that there are"),
            ("limit=0", "limit: give at least 1"),
            ("limit=ten", "limit: give a whole number"),
            ("limit=1.0", "limit: give a whole number"),
            ("limit=" + "9" * 5000, "limit: give a whole number"),
            ("limit=", "limit: give a whole number"),
            ("marker=1", "marker: give a uuid"),
            ("state=asleep", "state.0: give one of queued, starting"),
            ("name=%00", "name: give a text without control characters"),
            ("name=%ff", "the query is not UTF-8"),
            ("name=%0A", "name: give a text without control characters"),
            ("pool=gpu%0A", "pool: give a text without control characters"),
            ("all_projects=perhaps", "all_projects: give true or false"),
            ("limit=1&limit=2", "the query has a parameter twice"),
            ("&".join(f"p{number}=1" for number in range(50)), "the query has a parameter twice"),
        ):
            answer = self.ask("GET", "/v1/jobs", query_string=query)
            [found] = self.refused(400, "request.invalid", answer)
            self.assertTrue(found.startswith(detail), found)

    def test_where_there_is_none(self):
        answer = self.get(f"/v1/jobs/{self.submit()['uuid']}?colour=red")
        [detail] = self.refused(400, "request.invalid", answer)
        self.assertEqual("'colour' is not known; there are none", detail)

    def test_times(self):
        for since in ("yesterday", "2026-01-01", "2026-01-01T00:00:00", "0000-01-01T00:00:00Z"):
            [detail] = self.refused(
                400, "request.invalid", self.get("/v1/events", params={"since": since})
            )
            self.assertIn("since: give a time with its zone, such as", detail)
        for since in (
            "2026-01-01T00:00:00Z",
            "2026-01-01t00:00:00.5z",
            "0001-01-01T00:00:00+14:00",
        ):
            self.answered(200, self.get("/v1/events", params={"since": since}))
        self.answered(
            200, self.ask("GET", "/v1/events", query_string="since=2026-01-01T00:00:00+00:00")
        )

    def test_parameters_where_there_are_none(self):
        self.refused(400, "request.invalid", self.get("/v1/hosts?all=1", "admin"))
