"""The OpenAPI document is valid, complete, and true."""

import contextlib
import re
from unittest import SkipTest

import falcon
import fixtures
import schemathesis
import testtools
from falcon import inspect
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from nova_twotier.api import openapi, policies, routes
from nova_twotier.api.site import Site
from nova_twotier.db.arrays import Tasks
from tests.unit.api.case import ApiCase, FakeLogins, KeystoneCase
from tests.unit.api.network import Network

#: What is answered besides the operations, and not described: it is for operators.
OPERATORS = {("get", "/metrics")}
#: Where bodies have texts that the database checks.
TEXTS = ("/v1/jobs", "/v1/jobs/{uuid}", "/v1/arrays", "/v1/arrays/{array}")
PUBLIC = {
    *(("get", "/"), ("get", "/v1"), ("get", "/v1/openapi.json")),
    *(("post", "/v1/login"), ("post", "/v1/login/projects")),
}


class TestDocument(ApiCase):
    OPTIONS = "metrics = true"

    def served(self):
        """Method and path of everything that the application answers, as falcon has it."""
        api = self.application
        found = []
        pending = [api]
        while pending:
            layer = pending.pop()
            if isinstance(layer, falcon.App):
                found = [
                    (method.method.lower(), re.sub(r"{(\w+):\w+}", r"{\1}", route.path))
                    for route in inspect.inspect_routes(layer)
                    for method in route.methods
                    if not method.internal
                ]
                break
            pending += [value for value in vars(layer).values() if callable(value)]
        self.assertNotEqual([], found)
        return set(found)

    def test_every_route_is_described_and_nothing_else(self):
        described = {
            (method, path)
            for path, methods in openapi.DOCUMENT["paths"].items()
            for method in methods
        }
        self.assertEqual(self.served() - OPERATORS, described)

    def test_every_operation_has_a_rule_of_its_own(self):
        rules = {rule.name: rule for rule in policies.RULES}
        public, used = set(), set()
        for path, method, operation in routes.operations():
            if operation.rule is None:
                public.add((method, path))
                continue
            [documented] = rules[operation.rule].operations
            self.assertEqual((method.upper(), path), (documented["method"], documented["path"]))
            used.add(operation.rule)
        self.assertEqual(PUBLIC, public)
        # Those with a further part are for more of what the operation of the same name does.
        rest = {name for name in rules if name.count(":") == 2}
        self.assertEqual(rest, used)

    def test_it_is_valid(self):
        document = self.get("/v1/openapi.json", None).json
        self.assertEqual("3.1.0", document["openapi"])
        OpenAPIV31SpecValidator(document).validate()

    def test_names_of_operations_are_unique(self):
        names = [
            operation["operationId"]
            for methods in openapi.DOCUMENT["paths"].values()
            for operation in methods.values()
        ]
        self.assertEqual(sorted(set(names)), sorted(names))


class TestExamples(testtools.TestCase):
    URI = "urn:openapi"

    def setUp(self):
        super().setUp()
        document = Resource(openapi.DOCUMENT, specification=DRAFT202012)
        self.registry = Registry().with_resource(self.URI, document)

    def resolved(self, schema):
        if "$ref" in schema:
            return self.registry.resolver(self.URI).lookup(schema["$ref"]).contents
        return schema

    def has_example(self, schema):
        """Whether a schema has an example, or all of its parts have one or need none."""
        schema = self.resolved(schema)
        if {"examples", "enum"} & schema.keys() or schema.get("type") in ("string", "null"):
            return True
        if schema.get("type") == "array":
            return self.has_example(schema["items"])
        parts = schema.get("properties", {})
        return bool(parts) and all(map(self.has_example, parts.values()))

    def test_every_body_and_every_answer_has_one(self):
        lacking = [
            f"{method} {path}: {what}"
            for path, methods in openapi.DOCUMENT["paths"].items()
            for method, operation in methods.items()
            for what, part in [
                ("body", operation.get("requestBody", {})),
                *operation["responses"].items(),
            ]
            for media in part.get("content", {}).values()
            if not self.has_example(media["schema"])
        ]
        # The document needs none of itself.
        self.assertEqual(["get /v1/openapi.json: 200"], lacking)

    def test_they_are_as_their_schemas_say(self):
        checked = 0
        for name, schema in openapi.DOCUMENT["components"]["schemas"].items():
            reference = {"$ref": f"{self.URI}#/components/schemas/{name}"}
            validator = Draft202012Validator(reference, registry=self.registry)
            for example in schema.get("examples", ()):
                self.assertEqual([], [e.message for e in validator.iter_errors(example)], name)
                checked += 1
        self.assertGreater(checked, 20)


class TestRules(testtools.TestCase):
    def test_every_rule_is_documented(self):
        for rule in policies.list_rules():
            self.assertTrue(rule.description, rule.name)
        for rule in policies.RULES:
            self.assertTrue(rule.scope_types, rule.name)

    def test_the_tools_of_oslo_policy_find_them(self):
        enforcer = policies.get_enforcer()
        names = {rule.name for rule in policies.list_rules()}
        self.assertEqual(names, set(enforcer.registered_rules))


class TestTruth(KeystoneCase):
    """Requests made up from the document, right ones and wrong ones (schemathesis).

    Behind Keystone, so that it is tried whether other tokens are refused.
    """

    #: For each operation and each kind.
    EXAMPLES = 15

    def setUp(self):
        super().setUp()
        network = Network.of_pods()
        network.used["host111"] = 300
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, network))
        self.useFixture(fixtures.MockPatchObject(Site, "logins", FakeLogins()))
        self.token = self.token_for("admin", "member", project_id="demo")
        self.job = self.submit(self.token)["uuid"]
        self.array = str(self.store.submit(1, [], project_id="demo", tasks=Tasks("0-3")).number)
        self.schema = schemathesis.openapi.from_wsgi("/v1/openapi.json", self.application)

    def hammer(self, mode, sensible=lambda case: None):
        asked = set()
        for found in self.schema.get_all_operations():
            operation = found.ok()

            @settings(
                max_examples=self.EXAMPLES,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case):
                # Nothing is sent of an empty list or object: what was to be wrong would be right.
                assume(all(value not in ([], {}) for value in (case.query or {}).values()))
                sensible(case)
                headers = {"X-Auth-Token": self.token}
                answer = case.call(headers=headers)
                # Nobody looks at what is wrong in a body that is too large.
                if answer.status_code != 413:
                    case.validate_response(answer, headers=headers)

            with contextlib.suppress(SkipTest, Unsatisfiable):
                try:
                    ask()
                except BaseExceptionGroup as failures:
                    # It is no Exception: it would end the runner, and the tests after this one.
                    self.fail(str(failures))
                asked.add(operation.label)
        return asked

    def sensible(self, case):
        """What a schema cannot say: jobs and pools that there are, a number for each process, a
        period that is not empty."""
        if "uuid" in case.path_parameters:
            case.path_parameters["uuid"] = self.job
        for name in {"marker", "job"} & set(case.query):
            case.query[name] = self.job if case.path == "/v1/jobs" or name == "job" else "1"
        if "array" in case.path_parameters:
            case.path_parameters["array"] = self.array
        if "indexes" in (case.body if isinstance(case.body, dict) else ()):
            case.body["indexes"] = "0-3"
        if case.method == "POST" and case.path in ("/v1/jobs", "/v1/arrays"):
            if isinstance(case.body.get("cpu"), list):
                case.body["size"] = len(case.body["cpu"])
            case.body["pool"] = "default"
            # The operator allows none.
            case.body.pop("webhook", None)
            case.body.pop("webhook_secret", None)
            case.body.pop("begin_at", None)  # That it is in the next 30 years.
            for dependency in case.body.get("dependencies", ()):
                dependency.pop("array", None)
                dependency["job"] = self.job
        if case.method in ("POST", "PATCH") and case.path in TEXTS:
            for name in {"name", "flavor", "key_name"} & set(case.body):
                text = case.body[name]
                case.body[name] = text and ("".join(filter(str.isprintable, text)) or "x")
        if case.path == "/v1/jobs/cancel":
            # Its answer must not change what the other requests ask of.
            case.body["pool"] = "none"
        if case.path == "/v1/queue":
            case.query["pool"] = "default"
        if case.path == "/v1/schedule":
            if {"from", "to"} & case.query.keys():  # The other one's default is near the present.
                case.query.update({"from": "2026-09-01T00:00:00Z", "to": "2026-10-01T00:00:00Z"})
            if "marker" in case.query:
                case.query["marker"] = "1790000000.5000000_1"
            if "changed_since" in case.query:  # From 1970 to 9999.
                case.query["changed_since"] = "2026-09-15T00:00:00Z"
        if case.path == "/v1/utilisation" and {"from", "to"} & case.query.keys():
            case.query.update({"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"})
            case.query.pop("last", None)
        if case.path == "/v1/usage":
            times = {"start": "2026-01-01T00:00:00Z", "end": "2030-01-01T00:00:00Z"}
            case.query.update({name: times[name] for name in times.keys() & case.query.keys()})
            if "by" in case.query:
                case.query["by"] = "user,month"

    def test_right_requests(self):
        asked = self.hammer(schemathesis.GenerationMode.POSITIVE, self.sensible)
        every = {f"{method.upper()} {path}" for path, method, _operation in routes.operations()}
        # The document itself is where schemathesis starts.
        self.assertEqual(every - {"GET /v1/openapi.json"}, asked)

    def test_wrong_requests(self):
        asked = self.hammer(schemathesis.GenerationMode.NEGATIVE)
        self.assertLessEqual({"POST /v1/jobs", "GET /v1/jobs", "GET /v1/events"}, asked)
