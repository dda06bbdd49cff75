"""What doc/api.md shows is so."""

import pathlib
import re

import fixtures

from nova_twotier.api import job_request_schemas, routes
from nova_twotier.api.site import Site
from nova_twotier.db.arrays import Tasks
from nova_twotier.db.states import JobState
from nova_twotier.ledger.shape import Shape
from tests.documented.runners import commands_of
from tests.unit.api.case import ApiCase, FakeLogins
from tests.unit.api.network import Network

PAGE = pathlib.Path(__file__).parents[3] / "doc" / "api.md"


class TestDocumentation(ApiCase):
    def setUp(self):
        super().setUp()
        self.text = PAGE.read_text()
        for service in ("placement", "aggregates"):
            network = Network({"node17": Shape(4, 2)})
            self.useFixture(fixtures.MockPatchObject(Site, service, network))
        self.useFixture(fixtures.MockPatchObject(Site, "logins", FakeLogins()))

    def examples(self):
        """Method, path, headers and body of each `curl`, with the variables that the page sets."""
        variables = dict(re.findall(r"^(\w+)='?([^'\n]+?)'?(?:\s*#.*)?$", self.text, re.MULTILINE))
        job = self.submit()
        self.change(job, state=JobState.RUNNING)  # One that has started can be asked for anything.
        variables["uuid"] = job["uuid"]
        variables["array"] = str(
            self.store.submit(1, [], project_id="demo", tasks=Tasks("0-99")).number
        )
        for command in commands_of("tests/unit/api/test_documentation.py"):
            filled = [
                re.sub(r"\$(\w+)", lambda name: variables[name[1]], word) for word in command.words
            ]
            words = iter(filled[1:])
            method, path, headers, body = None, None, {}, None
            for word in words:
                match word:
                    case "-s":
                        pass
                    case "-X":
                        method = next(words)
                    case "-H":
                        name, value = next(words).split(": ")
                        headers[name] = value
                    case "-d":
                        body = next(words)
                    case _:
                        path = word.removeprefix(variables["API"])
            yield method or ("POST" if body else "GET"), path, headers, body

    def test_every_example_works_and_every_operation_has_one(self):
        shown = set()
        for method, path, headers, body in self.examples():
            answer = self.ask(method, path, None, headers=headers, body=body)
            self.assertIn(answer.status_code, (200, 201, 202), f"{method} {path}: {answer.text}")
            route = re.sub("[0-9a-f-]{36}", "{uuid}", path.partition("?")[0])
            route = re.sub("(?<=/v1/arrays/)[0-9]+", "{array}", route)
            shown.add((method.lower(), route))
        there = {(method, path) for path, method, _operation in routes.operations()}
        self.assertEqual({("get", "/")}, there - shown)

    def test_every_field_of_a_job_is_in_the_table(self):
        fields = re.findall(r"^\| `(\w+)` \|", self.text, re.MULTILINE)
        self.assertEqual(list(job_request_schemas.JOB_REQUEST["properties"]), fields)
