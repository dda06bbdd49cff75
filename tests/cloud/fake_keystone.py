"""The part of Keystone that logins and the validation of tokens need."""

import html
import http.server
import json
import threading
import uuid
from urllib.parse import parse_qs, urlsplit

_REFUSED = {"error": {"code": 401, "message": "no", "title": "no"}}
_DOMAIN = {"id": "default", "name": "Default"}


#: As Keystone's sso_callback_template.html.
_CALLBACK = """<!DOCTYPE html>
<form id="sso" name="sso" action="{host}" method="post">
<input type="hidden" name="token" id="token" value="{token}"></form>
<script>window.onload = function() {{ document.forms['sso'].submit(); }}</script>"""


class FakeKeystone:
    """A Keystone with passwords and single sign-on, on a port of its own.

    :param users: name, password, project and roles of each.
    :param member: the user whom the identity provider logs in, if there is one.
    :param projects: of this user.
    :ivar trusted: the dashboards to which it sends browsers.
    """

    def __init__(self, *users, member=None, projects=()):
        self._users = {user: (password, project, roles) for user, password, project, roles in users}
        self.member, self.projects = member, projects
        self.trusted = set()
        self.tokens = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.keystone = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v3"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def login(self, body):
        """The id of a new token; None if the user, the password or the project is wrong."""
        identity = body["auth"]["identity"]
        if identity["methods"] == ["token"]:
            project = body["auth"]["scope"]["project"]["id"]
            known = identity["token"]["id"] in self.tokens and project in self.projects
            return self._issue(self.member, project, ["member", "reader"]) if known else None
        user = identity["password"]["user"]
        password, project, roles = self._users.get(user["name"], (None, None, None))
        if password is None or user["password"] != password:
            return None
        return self._issue(user["name"], project, roles)

    def sign_on(self):
        """The id of a new token for no project, as by an identity provider."""
        return self._issue(self.member)

    def _issue(self, user, project=None, roles=()):
        identifier = uuid.uuid4().hex
        endpoints = [
            {"interface": face, "region": "one", "url": self.url, "id": face}
            for face in ("public", "internal", "admin")
        ]
        scope = {
            "project": {"id": project, "name": project, "domain": _DOMAIN},
            "roles": [{"id": role, "name": role} for role in roles],
            "catalog": [{"type": "identity", "name": "keystone", "endpoints": endpoints}],
        }
        self.tokens[identifier] = {
            "methods": ["password"],
            "user": {"id": user, "name": user, "domain": _DOMAIN},
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "expires_at": "2096-01-01T00:00:00.000000Z",
            **(scope if project else {}),
        }
        return identifier


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self._answer(201, self.server.keystone.login(json.loads(self.rfile.read(length))))

    def do_GET(self):
        if self.path.endswith("/auth/tokens"):
            self._answer(200, self.headers["X-Subject-Token"])
            return
        if "/OS-FEDERATION/" in self.path:
            self._sign_on(parse_qs(urlsplit(self.path).query)["origin"][0])
            return
        if self.path.endswith("/auth/projects"):
            self._list_projects()
            return
        links = [{"rel": "self", "href": self.server.keystone.url}]
        self._send(200, {"version": {"id": "v3.14", "status": "stable", "links": links}})

    def _sign_on(self, origin):
        if origin not in self.server.keystone.trusted:
            self._send(401, _REFUSED)
            return
        token = self.server.keystone.sign_on()
        page = _CALLBACK.format(host=html.escape(origin), token=token).encode()
        self._write(200, "text/html", page)

    def _list_projects(self):
        if self.headers["X-Auth-Token"] not in self.server.keystone.tokens:
            self._send(401, _REFUSED)
            return
        projects = [
            {"id": name, "name": name, "domain_id": "default"}
            for name in self.server.keystone.projects
        ]
        self._send(200, {"projects": projects, "links": {}})

    def _answer(self, status, identifier):
        """Send a token, if there is one of this id."""
        token = self.server.keystone.tokens.get(identifier)
        if token is None:
            self._send(404 if self.command == "GET" else 401, _REFUSED)
        else:
            self._send(status, {"token": token}, identifier)

    def _send(self, status, body, identifier=None):
        headers = {"X-Subject-Token": identifier} if identifier else {}
        self._write(status, "application/json", json.dumps(body).encode(), headers)

    def _write(self, status, kind, text, headers=()):
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(text)),
            **dict(headers),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """Keep the test's output free of requests."""
