"""Logs that the database hangs: a request that waits for it logs nothing."""

import threading
import time

from oslo_log import log as logging

from nova_twotier.db.store import DATABASE_ERRORS, HANGS, Store

LOG = logging.getLogger(__name__)

#: Seconds between two looks.
INTERVAL = 1.0


class HangReporter:
    """WSGI middleware that logs when requests wait for the database for long.

    A thread of each process looks; it begins at the first request, since a server may fork before.

    :param store: what the application asks.
    """

    def __init__(self, application, store: Store):
        self._application, self._store = application, store
        self._beginning = threading.Lock()
        self._thread: threading.Thread | None = None
        self._hangs = False

    def __call__(self, environ, start_response):
        with self._beginning:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="hangs", daemon=True)
                self._thread.start()
        return self._application(environ, start_response)

    def look(self) -> None:
        """Log a warning when the database begins to hang, and a line when it answers again."""
        hangs = self._store.waited() >= HANGS
        if hangs and not self._hangs:
            LOG.warning("[database] has not answered for %g s: requests wait for it", HANGS)
            self._hangs = True
        elif self._hangs and not hangs and self._answers():
            LOG.info("[database] answers again")
            self._hangs = False

    def _run(self) -> None:
        while True:
            self.look()
            time.sleep(INTERVAL)

    def _answers(self) -> bool:
        """Whether the database answers; that waits as long as it hangs."""
        try:
            self._store.last_event()
        except DATABASE_ERRORS:
            return False
        return True
