"""What the stand-in for Keystone tells of users and projects, and to whom."""

import pathlib

import fixtures
import testtools
from webob import Request

from nova_twotier.tools.fakecloud import identity
from nova_twotier.tools.fakecloud.identities import Identities, adding

ADMIN, ALICE = "admin:admin", "alice:shop:member,twotier_urgent"


def answer(_environ, start_response):
    """The application of any service, which answers nothing."""
    start_response("200 OK", [])
    return []


class TestKeystone(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "identities")
        self.keystone = identity.Keystone(Identities(self.path))

    def get(self, path, token=None, application=None):
        headers = {"X-Auth-Token": token} if token else {}
        return Request.blank(path, headers=headers).get_response(application or self.keystone)

    def come(self, token):
        """Users are found who have only asked another service, which is another process."""
        self.get("/", token, adding(answer, Identities(self.path)))

    def names(self, path):
        [(_kind, found)] = [
            item for item in self.get(path, ADMIN).json.items() if item[0] != "links"
        ]
        return [each["name"] for each in found]

    def test_administrators_find_those_who_have_come(self):
        self.assertEqual(["admin"], self.names("/v3/users"))
        self.come(ALICE)
        self.come(ALICE)
        self.come("bob")
        self.assertEqual(["admin", "alice", "bob"], self.names("/v3/users"))
        self.assertEqual(["admin", "bob", "shop"], self.names("/v3/projects"))
        self.assertEqual(["alice"], self.names("/v3/users?name=alice&domain_id=default"))
        self.assertEqual([], self.names("/v3/users?name=alice&domain_id=other"))
        self.assertEqual("shop", self.get("/v3/projects/shop", ADMIN).json["project"]["id"])

    def test_nobody_else_exists(self):
        self.come("not a token")
        self.assertEqual([], self.names("/v3/users?name=nobody"))
        for path in ("/v3/users/nobody", "/v3/projects/nothing", "/v3/domains/other"):
            self.assertEqual(404, self.get(path, ADMIN).status_int)

    def test_others_find_themselves_and_their_project_only(self):
        self.come("bob:lab")
        for path, kind, own in (
            ("/v3/users/alice", "user", "alice"),
            ("/v3/projects/shop", "project", "shop"),
            ("/v3/domains/default", "domain", "default"),
        ):
            self.assertEqual(own, self.get(path, ALICE).json[kind]["id"])
        # Whether they exist or not, so that nobody learns who does.
        for path in ("/v3/users", "/v3/users?name=alice", "/v3/users/bob", "/v3/users/nobody"):
            self.assertEqual(403, self.get(path, ALICE).status_int)
        self.assertEqual(403, self.get("/v3/projects/lab", ALICE).status_int)

    def test_without_a_token_nothing_is_told(self):
        for path in ("/v3/users", "/v3/users/alice"):
            self.assertEqual(401, self.get(path).status_int)
        self.assertEqual("v3.14", self.get("/v3").json["version"]["id"])

    def test_everything_else_is_empty(self):
        self.assertEqual([], self.names("/v3/roles"))
        for path in ("/v3/roles/member", "/v3/users/alice/projects", "/v3/", "/v2"):
            self.assertEqual(200 if path == "/v3/" else 404, self.get(path, ADMIN).status_int)
