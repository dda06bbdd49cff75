"""Serves the board on the loopback address, and forwards its requests with a session's token.

The browser never has the token. Whoever can reach the address, another user of this machine or a
page in the same browser, must present the secret of this run, which is in the fragment of the
address that the command prints: a browser sends that to nobody.
"""

import hmac
import json
import logging
import re
import secrets
import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from keystoneauth1 import exceptions as ksa

from nova_twotier.api import board_files
from nova_twotier.api.errors import Refused, document, plain
from nova_twotier.api.loopback import check_host
from nova_twotier.client.rest import Api, ApiError

LOG = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
#: What the page asks as whom it shows the board.
SESSION = f"{board_files.PATH}/session.json"
#: The resources of the API, but for the logins: no segment may begin with a dot, or be escaped.
_RESOURCES = re.compile(r"/v1(/(?!login(/|$))[\w-][\w.,:-]*)*", re.ASCII)
#: Most bytes of a request's body; more than the API takes unless it is told to.
_MOST = 2**20
_ASKED = ("Accept", "Content-Type", "If-None-Match", "OpenStack-API-Version")
_ANSWERED = (
    *("Cache-Control", "Content-Type", "ETag", "OpenStack-API-Version", "Retry-After", "Vary"),
    "X-Openstack-Request-Id",
)
_JSON = "application/json"


class Server(ThreadingHTTPServer):
    """Listens at once; `serve_forever` serves.

    :param api: with the session.
    :param port: 0 for a free one.
    :raises OSError: if it cannot listen there.
    :raises ApiError: if the API does not answer.
    """

    daemon_threads = True

    def __init__(self, api: Api, port: int = 0):
        self.api = api
        self.secret = secrets.token_urlsafe(32)
        settings = _json({"auth_strategy": "session", "websso": []})
        self.contents = {
            **board_files.read(),
            board_files.SETTINGS: board_files.Content(settings, _JSON),
        }
        # If it is not there, that is an error of the command, not of the page.
        api.version()
        self.session = _json(api.identity())
        super().__init__((ADDRESS, port), _Handler)

    @property
    def url(self) -> str:
        """The address of the page, with the secret."""
        return f"http://{ADDRESS}:{self.server_port}{board_files.PATH}#secret={self.secret}"

    def handle_error(self, request, client_address):
        # Browsers close connections as they like.
        if not isinstance(sys.exception(), ConnectionError):
            LOG.exception("A request of the board failed")


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "twotier-board", ""
    #: Seconds after which an idle connection is closed.
    timeout = 120

    def do_GET(self) -> None:
        try:
            check_host(self.headers.get("Host", ""))
            self._serve(*self.path.partition("?")[::2])
        except Refused as refused:
            self._refuse(refused)

    do_POST = do_PATCH = do_DELETE = do_GET

    def _serve(self, path: str, query: str) -> None:
        content = self.server.contents.get(path)
        if content and self.command == "GET":
            self._send_content(content)
        elif path == SESSION and self.command == "GET":
            self._check_secret()
            self._send(HTTPStatus.OK, {"Content-Type": _JSON}, self.server.session)
        elif _RESOURCES.fullmatch(path):
            self._check_secret()
            self._forward(f"{path}?{query}" if query else path)
        else:
            raise plain(404, "the board has nothing of that name")

    def _check_secret(self) -> None:
        """:raises Refused: if the request does not present the secret, as a token."""
        presented = self.headers.get("X-Auth-Token", "")
        if not hmac.compare_digest(presented.encode(), self.server.secret.encode()):
            raise plain(
                401, "open the address that `openstack twotier board` printed when it was started"
            )

    def _send_content(self, content: board_files.Content) -> None:
        tag = f'"{content.tag}"'
        if tag in self.headers.get("If-None-Match", ""):
            self._send(HTTPStatus.NOT_MODIFIED, {"ETag": tag})
        else:
            headers = {"ETag": tag, "Content-Type": content.media_type}
            self._send(HTTPStatus.OK, headers, content.body)

    def _forward(self, target: str) -> None:
        """:raises Refused: if there is no answer of the API."""
        asked = {name: self.headers[name] for name in _ASKED if name in self.headers}
        body = self._body()
        try:
            answer = self.server.api.forward(self.command, target, asked, body)
        except ApiError as error:
            # The page tells an API that is late from one that is gone.
            late = isinstance(error.__cause__, ksa.ConnectTimeout)
            raise plain(504 if late else 502, str(error)) from error
        except ksa.Unauthorized as error:
            raise plain(
                401, "Keystone no longer takes the login of `openstack twotier board`"
            ) from error
        except ksa.ClientException as error:
            raise plain(502, f"there is no token: {error}") from error
        if answer.is_redirect:
            raise plain(502, "the API answers with the address of another one: is this its URL?")
        kept = {name: answer.headers[name] for name in _ANSWERED if name in answer.headers}
        self._send(answer.status_code, kept, answer.content)

    def _body(self) -> bytes | None:
        """:raises Refused: if its length is not known, or is too large."""
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            raise plain(411, "say how long the body is")
        if int(length) > _MOST:
            raise plain(413, "the body is too large")
        return self.rfile.read(int(length)) or None

    def _refuse(self, refused: Refused) -> None:
        # What there is of its body has not been read.
        self.close_connection = True
        body = _json(document("", refused))
        self._send(refused.status, {"Content-Type": _JSON, "Connection": "close"}, body)

    def _send(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**board_files.HEADERS, **headers}.items():
            self.send_header(name, value)
        if status not in (HTTPStatus.NOT_MODIFIED, HTTPStatus.NO_CONTENT):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        LOG.debug(format, *args)


def _json(value: dict) -> bytes:
    return json.dumps(value).encode()
