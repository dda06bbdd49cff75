"""The part of Keystone that logins and the validation of tokens need."""

import http.server
import json
import threading
import uuid

_REFUSED = {"error": {"code": 401, "message": "no", "title": "no"}}
_DOMAIN = {"id": "default", "name": "Default"}


class FakeKeystone:
    """A Keystone with passwords, on a port of its own.

    :param users: name, password, project and roles of each.
    """

    def __init__(self, *users):
        self._users = {user: (password, project, roles) for user, password, project, roles in users}
        self.tokens = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.keystone = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v3"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def login(self, body):
        """The id of a new token; None if the user or the password is wrong."""
        user = body["auth"]["identity"]["password"]["user"]
        password, project, roles = self._users.get(user["name"], (None, None, None))
        if password is None or user["password"] != password:
            return None
        identifier = uuid.uuid4().hex
        endpoints = [
            {"interface": face, "region": "one", "url": self.url, "id": face}
            for face in ("public", "internal", "admin")
        ]
        self.tokens[identifier] = {
            "methods": ["password"],
            "user": {"id": user["name"], "name": user["name"], "domain": _DOMAIN},
            "project": {"id": project, "name": project, "domain": _DOMAIN},
            "roles": [{"id": role, "name": role} for role in roles],
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "expires_at": "2096-01-01T00:00:00.000000Z",
            "catalog": [{"type": "identity", "name": "keystone", "endpoints": endpoints}],
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
        links = [{"rel": "self", "href": self.server.keystone.url}]
        self._send(200, {"version": {"id": "v3.14", "status": "stable", "links": links}})

    def _answer(self, status, identifier):
        """Send a token, if there is one of this id."""
        token = self.server.keystone.tokens.get(identifier)
        if token is None:
            self._send(404 if self.command == "GET" else 401, _REFUSED)
        else:
            self._send(status, {"token": token}, identifier)

    def _send(self, status, body, identifier=None):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if identifier:
            self.send_header("X-Subject-Token", identifier)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """Keep the test's output free of requests."""
