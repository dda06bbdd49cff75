"""As much of Keystone as the API asks for, on the loopback address: tokens and trusts."""

import json
import threading
import uuid
from http import server
from urllib.parse import parse_qs, urlsplit

from keystoneauth1 import fixture as tokens

#: The only tenant's token, and the user whose password everybody else has.
TENANT, MANAGER = "tenant-token", "manager"


class FakeKeystone:
    """`trusts` by id; `made` is called after each that is made, before Keystone answers."""

    def __init__(self):
        self.trusts = {}
        self.made = lambda: None
        keystone = self

        class Handler(server.BaseHTTPRequestHandler):
            def answer(self):
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size) or "null")
                status, headers, document = keystone._answer(self, body)
                text = b"" if document is None else json.dumps(document).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_args):
                pass

        self._server = server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v3"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request, body):
        path, query = urlsplit(request.path).path.rstrip("/"), urlsplit(request.path).query
        match request.command, path:
            case "GET", "" | "/v3":
                return 200, {}, {"version": tokens.V3Discovery(self.url)}
            case "POST", "/v3/auth/tokens":
                subject = {"X-Subject-Token": uuid.uuid4().hex}
                return 201, subject, self._token(MANAGER, "service", "admin")
            case "GET", "/v3/auth/tokens" if request.headers["X-Subject-Token"] == TENANT:
                return 200, {}, self._token("alice", "demo", "member", "reader")
            case "POST", "/v3/OS-TRUST/trusts":
                trust = {**body["trust"], "id": uuid.uuid4().hex}
                self.trusts[trust["id"]] = trust
                self.made()
                return 201, {}, {"trust": trust}
            case "GET", "/v3/OS-TRUST/trusts":
                [trustee] = parse_qs(query)["trustee_user_id"]
                found = [
                    each for each in self.trusts.values() if each["trustee_user_id"] == trustee
                ]
                return 200, {}, {"trusts": found}
            case "DELETE", _ if self.trusts.pop(path.rpartition("/")[2], None):
                return 204, {}, None
        return 404, {}, {"error": {"code": 404, "message": "not found", "title": "Not Found"}}

    def _token(self, user, project, *roles):
        token = tokens.V3Token(user_id=user)
        token.set_project_scope(id=project)
        for role in roles:
            token.add_role(name=role)
        token.add_service("identity").add_standard_endpoints(
            public=self.url, internal=self.url, admin=self.url
        )
        return token
