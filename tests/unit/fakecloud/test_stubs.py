"""What the stand-ins for other services answer."""

import testtools
from webob import Request

from nova_twotier.tools.fakecloud import stubs


class TestKeystone(testtools.TestCase):
    """Without passwords, everybody is who the token says, so every name is one that exists."""

    def get(self, path):
        return Request.blank(path).get_response(stubs.keystone)

    def test_every_name_is_a_user_and_a_project_whose_id_is_the_same(self):
        for kind in ("user", "project"):
            found = self.get(f"/v3/{kind}s/alice%40shop")
            self.assertEqual({kind: {"id": "alice@shop", "name": "alice@shop"}}, found.json)

    def test_nothing_else_is_there(self):
        self.assertEqual(404, self.get("/v3/roles/member").status_int)
        self.assertEqual(404, self.get("/v3/users/alice/projects").status_int)
        self.assertEqual([], self.get("/v3/users").json["users"])
