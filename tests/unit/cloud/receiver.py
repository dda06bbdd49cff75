"""A webhook on the loopback interface."""

import http.server
import threading

import fixtures


class Receiver(fixtures.Fixture):
    """Keeps what is posted to it, and answers with `status`, once `gate` is open."""

    def _setUp(self):
        self.received, self.status, self.gate = [], 204, threading.Event()
        self.gate.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append((self.path, dict(self.headers), body))
                receiver.gate.wait(60)
                self.send_response(receiver.status)
                self.send_header("Location", f"{receiver.url}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_words):
                """Tests do not read it."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        for clean in (server.server_close, thread.join, server.shutdown, self.gate.set):
            self.addCleanup(clean)
