"""Commands against the real API, in this process: only the sockets are missing."""

import functools
import io
import json
import types

import fixtures
import requests
import webob
from cliff.commandmanager import CommandManager
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from nova_twotier.client.rest import Api
from tests.unit.api.case import ApiCase

URL = "http://127.0.0.1:8782"


class WsgiAdapter(requests.adapters.BaseAdapter):
    """Hands requests to a WSGI application.

    :ivar asked: method, path and query of each.
    """

    def __init__(self, application):
        super().__init__()
        self._application = application
        self.asked = []

    def send(self, request, **_options):
        self.asked.append(f"{request.method} {request.path_url}")
        asked = webob.Request.blank(request.url, method=request.method, headers=request.headers)
        body = request.body or b""
        asked.body = body if isinstance(body, bytes) else body.encode()
        given = asked.get_response(self._application)
        answer = requests.Response()
        answer.status_code = given.status_int
        answer.headers.update(given.headers)
        answer.raw = io.BytesIO(given.body)
        answer.url = request.url
        answer.request = request
        return answer

    def close(self):
        pass


class ClientCase(ApiCase):
    """`self.api` asks as alice of the project demo."""

    def setUp(self):
        super().setUp()
        # The application may be replaced by the test.
        self.wire = WsgiAdapter(lambda environ, start: self.application(environ, start))
        self.api = self.api_of("alice:demo")

    def api_of(self, token):
        transport = requests.Session()
        transport.mount(URL, self.wire)
        return Api(Session(auth=Token(URL, token), session=transport))


@functools.cache
def commands():
    """The commands as OpenStackClient finds them."""
    return CommandManager("openstack.twotier.v1")


class CommandCase(ClientCase):
    """`self.sdk` stands for the other services, of which there are those of `self.services`."""

    def setUp(self):
        super().setUp()
        self.services = set()
        self.sdk = types.SimpleNamespace()
        self.stderr = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch("sys.stderr", self.stderr))

    def clients(self, token):
        return types.SimpleNamespace(
            twotier=self.api_of(token),
            sdk_connection=self.sdk,
            region_name=None,
            interface="public",
            is_service_available=lambda service, _region, _interface: service in self.services,
        )

    def openstack(self, *words, by="alice:demo"):
        """The exit code, the standard output, and the error if there was one, of `twotier ...`.

        OpenStackClient itself shows an error in one line and exits with 1.
        """
        command, name, arguments = commands().find_command(["twotier", *words])
        stdout = io.StringIO()
        app = types.SimpleNamespace(client_manager=self.clients(by), stdout=stdout)
        made = command(app, None)
        try:
            code = made.run(made.get_parser(f"openstack {name}").parse_args(arguments))
        except SystemExit as exit_:
            return exit_.code, stdout.getvalue(), self.stderr.getvalue()
        except Exception as error:
            return 1, stdout.getvalue(), str(error)
        return code, stdout.getvalue(), ""

    def succeed(self, *words, by="alice:demo"):
        """What a command prints that must succeed."""
        code, out, error = self.openstack(*words, by=by)
        self.assertEqual((0, ""), (code, error), error)
        return out

    def shown(self, *words, by="alice:demo"):
        """The same, as it is for programs."""
        return json.loads(self.succeed(*words, "-f", "json", by=by))

    def refused(self, *words, by="alice:demo"):
        """The one line that says why a command failed."""
        code, out, error = self.openstack(*words, by=by)
        self.assertEqual((1, ""), (code, out), error)
        self.assertEqual(1, len(error.splitlines()), error)
        return error
