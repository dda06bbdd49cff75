"""The client of the last release against the API of this one, and what that API promised."""

import json
import pathlib
import subprocess
import sys

import fixtures

from nova_twotier.api import openapi
from nova_twotier.api.routes import operations
from nova_twotier.db.states import JobState
from tests import previous_release
from tests.new_databases import new_store
from tests.unit.cmd.server_case import ServerCase

#: Runs `openstack` with each list of words; prints exit codes and outputs.
COMMANDS = """
import contextlib, io, json, sys
from openstackclient import shell
answers = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = shell.main(words)
    answers.append((code, out.getvalue()))
print(json.dumps(answers))
"""


class PreviousRelease(fixtures.Fixture):
    """The code of the last release, in a directory of its own."""

    def _setUp(self):
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        previous_release.unpack(self.path)

    def run(self, *words):
        """Run Python with the old code instead of ours."""
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.path,
            env=previous_release.environment(self.path),
            capture_output=True,
            text=True,
            check=False,
        )


class TestClient(ServerCase):
    def setUp(self):
        super().setUp()
        self.release = self.useFixture(PreviousRelease())

    def openstack(self, *commands):
        """Run commands in one process, since that takes long to start; returns what they print."""
        login = ["--os-auth-type", "none", "--os-endpoint", self.url, "twotier"]
        words = json.dumps([[*login, *command.split()] for command in commands])
        ran = self.release.run("-c", COMMANDS, words)
        self.assertEqual(0, ran.returncode, ran.stderr)
        answers = json.loads(ran.stdout)
        for command, (code, out) in zip(commands, answers, strict=True):
            self.assertEqual(0, code, f"{command}: {out}{ran.stderr}")
        shown = zip(commands, answers, strict=True)
        return [json.loads(out) if "-f json" in command else out for command, (_code, out) in shown]

    def test_it_is_the_old_one(self):
        where = "import nova_twotier.client.rest as rest; print(rest.__file__)"
        self.assertIn(str(self.release.path), self.release.run("-c", where).stdout)

    def test_its_commands_do_what_they_did(self):
        self.start()
        first, second, listed, shown, explained, *_others = self.openstack(
            "job create --size 2 --cpu 0.5,0.7 --name first -f json",
            "job create --size 1 --held -f json",
            "job list --long -f json",
            "job show 1 -f json",
            "job explain 2 -f json",
            "job release 2",
            "job hold first",
        )
        self.assertEqual(("queued", 2, [0.5, 0.7]), (first["state"], first["size"], first["cpu"]))
        self.assertEqual([2, 1], [row["Number"] for row in listed])
        self.assertEqual(["queued", "queued"], [row["State"] for row in listed])
        self.assertEqual(first["uuid"], shown["uuid"])
        self.assertEqual(second["uuid"], explained["uuid"])
        self.assertIn("held", explained["reason"])
        store = new_store(self, f"sqlite:///{self.directory}/twotier.sqlite")
        with store.transaction() as session:
            job = session.merge(store.job(1))
            job.state, job.finished_at = JobState.FINISHED, job.submitted_at + 1
        events, queue, *_others = self.openstack(
            "event list -f json",
            "queue show -f json",
            "job wait first",
            "job cancel --all",
        )
        self.assertEqual(
            ["submitted", "submitted", "released", "held"], [event["Event"] for event in events]
        )
        self.assertEqual("active", queue["mode"])
        self.assertEqual("cancel", store.job(2).requested_action)


class TestPromises(ServerCase):
    """What the OpenAPI document of the last release said is so today."""

    def setUp(self):
        super().setUp()
        code = (
            "import json; from nova_twotier.api import openapi, routes; "
            "print(json.dumps(openapi.document(routes.operations())))"
        )
        ran = self.useFixture(PreviousRelease()).run("-c", code)
        self.assertEqual(0, ran.returncode, ran.stderr)
        self.before, self.now = json.loads(ran.stdout), openapi.document(operations())

    def operations(self, document):
        return {
            (path, method): operation
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        }

    def pairs(self):
        """Every operation of the last release, then and now."""
        now = self.operations(self.now)
        before = self.operations(self.before)
        self.assertLessEqual(before.keys(), now.keys())
        return [(operation, now[key]) for key, operation in before.items()]

    def test_the_names_and_parameters_of_operations(self):
        for before, now in self.pairs():
            self.assertEqual(before["operationId"], now["operationId"])
            names = lambda each: {(p["in"], p["name"]) for p in each["parameters"]}  # noqa: E731
            self.assertLessEqual(names(before), names(now), now["operationId"])
            required = lambda each: {p["name"] for p in each["parameters"] if p.get("required")}  # noqa: E731
            self.assertLessEqual(required(now), required(before), now["operationId"])

    def test_requests_are_still_accepted(self):
        for before, now in self.pairs():
            if "requestBody" in before:
                was = self.content(self.before, before["requestBody"])
                schema = self.content(self.now, now["requestBody"])
                self.assertLessEqual(was["properties"].keys(), schema["properties"].keys())
                # Nothing else is required than was.
                required = set(schema.get("required", []))
                self.assertLessEqual(required, set(was.get("required", [])))

    def test_answers_still_have_what_they_had(self):
        compared = 0
        for before, now in self.pairs():
            for status, answer in before["responses"].items():
                if status.startswith("2"):
                    was = self.content(self.before, answer)
                    compared += self.compare(was, self.content(self.now, now["responses"][status]))
        self.assertGreater(compared, 100)

    def compare(self, was, schema):
        """Every property that there was, however deep; returns how many there were."""
        count = 0
        was, schema = self.resolved(self.before, was), self.resolved(self.now, schema)
        for name, value in was.get("properties", {}).items():
            self.assertIn(name, schema["properties"])
            count += 1 + self.compare(value, schema["properties"][name])
        if "items" in was:
            count += self.compare(was["items"], schema["items"])
        return count

    def content(self, document, described):
        return self.resolved(document, described["content"]["application/json"]["schema"])

    def resolved(self, document, schema):
        if "$ref" in schema:
            return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema
