"""What patient readers ask is answered by another process, or else here."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Client

import fixtures
import testtools

from nova_twotier.api import patient

PATIENT = {"REQUEST_METHOD": "GET", "HTTP_CACHE_CONTROL": "max-stale=4"}


class Application:
    """A WSGI application that records its requests and answers with its name."""

    def __init__(self, name):
        self.name = name
        self.environs = []
        self.closed = 0
        self.asked = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def __call__(self, environ, start_response):
        self.environs.append(environ)
        self.asked.set()
        self.go_on.wait(30)
        start_response("200 OK", [("X-Who", self.name)])
        return Body(self)


class Body:
    def __init__(self, application):
        self._application = application

    def __iter__(self):
        yield self._application.name.encode()
        yield b"!"

    def close(self):
        self._application.closed += 1


class Listening:
    """A listener that ends the `serve` that accepts from it when it is closed."""

    def __init__(self):
        self._listener = patient.listener(10)
        self._over = False
        self.address = self._listener.address

    def accept(self):
        connection = self._listener.accept()
        if self._over:
            connection.close()
            raise SystemExit
        return connection

    def close(self):
        self._over = True
        Client(self.address).close()


class TestPatient(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.here, self.there = Application("here"), Application("there")
        self.listening = Listening()
        serving = threading.Thread(target=self.serve)
        serving.start()
        self.addCleanup(serving.join, 30)
        self.addCleanup(self.listening.close)
        self.now = 1000.0
        self.elsewhere = patient.Elsewhere(
            self.here, self.listening.address, threads=10, clock=lambda: self.now
        )

    def serve(self):
        with contextlib.suppress(SystemExit):
            patient.serve(self.listening, self.there)

    def ask(self, elsewhere=None, **environ):
        """Who has answered."""
        begun = []
        asked = elsewhere or self.elsewhere
        body = asked({**PATIENT, **environ}, lambda *begin: begun.append(begin))
        [(status, headers)] = begun
        self.assertEqual("200 OK", status)
        [(_header, name)] = headers
        self.assertEqual(f"{name}!".encode(), b"".join(body))
        return name

    def test_only_the_patient_are_passed_on(self):
        self.assertEqual("there", self.ask())
        self.assertEqual("here", self.ask(HTTP_CACHE_CONTROL="no-cache"))
        self.assertEqual("here", self.ask(REQUEST_METHOD="POST"))

    def test_what_is_asked_arrives_and_the_body_is_closed(self):
        asked = {"QUERY_STRING": "a=b", "REMOTE_ADDR": "192.0.2.1", "HTTP_X_AUTH_TOKEN": "secret"}
        self.ask(**asked, **{"wsgi.url_scheme": "https", "wsgi.errors": object()})
        [environ] = self.there.environs
        whole = {**asked, **PATIENT, "wsgi.url_scheme": "https"}
        self.assertEqual(whole, {name: environ[name] for name in whole})
        self.assertEqual(b"", environ["wsgi.input"].read())
        self.assertEqual(1, self.there.closed)

    def test_a_late_answer_is_not_waited_for(self):
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.api.patient.PATIENCE", 0.05))
        log = self.useFixture(fixtures.FakeLogger())
        self.there.go_on.clear()
        self.assertEqual("here", self.ask())
        self.assertIn("no answer in 0.05 s", log.output)
        self.assertTrue(self.there.asked.wait(30))
        self.there.go_on.set()
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.api.patient.PATIENCE", 30.0))
        # It is not asked again at once, but after a while.
        self.assertEqual("here", self.ask())
        self.assertEqual(1, len(self.there.environs))
        self.now += 0.06
        self.assertEqual("there", self.ask())

    def test_threads_are_left_for_others(self):
        elsewhere = patient.Elsewhere(self.here, self.listening.address, patient.OTHERS + 1)
        self.there.go_on.clear()
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(self.ask, elsewhere)
            self.assertTrue(self.there.asked.wait(30))
            self.assertEqual("here", self.ask(elsewhere))
            self.assertEqual(1, len(self.there.environs))
            self.there.go_on.set()
            self.assertEqual("there", waiting.result())

    def test_one_that_is_gone(self):
        gone = patient.Elsewhere(self.here, f"{self.listening.address}-gone", threads=10)
        log = self.useFixture(fixtures.FakeLogger())
        self.assertEqual("here", self.ask(gone))
        self.assertIn("The process that answers boards has failed: FileNotFoundError", log.output)
