"""Sweeps the trusts that a killed API left, beside the requests: Keystone may take long."""

import threading

from oslo_log import log as logging

from nova_twotier.cloud.trusts import TrustError, Trusts
from nova_twotier.db import submissions
from nova_twotier.db.store import DATABASE_ERRORS, Store

LOG = logging.getLogger(__name__)

#: The name of the thread.
SWEEP = "trust sweep"


class Sweeper:
    """Sweeps in a thread of its own, one at a time in each process.

    The thread begins when there is something to sweep: one that began with the application would
    not be there in the processes that the server forks afterwards.
    """

    def __init__(self) -> None:
        self._sweeping = threading.Lock()

    def sweep_if_due(self, store: Store, trusts: Trusts) -> None:
        """Start a sweep in the background if a recorded submission never became a job."""
        if not submissions.lapsed(store, limit=1) or not self._sweeping.acquire(blocking=False):
            return
        # A process that ends does not wait for it: the next sweep goes on where this one was.
        thread = threading.Thread(target=self._sweep, args=(store, trusts), name=SWEEP, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            self._sweeping.release()
            LOG.warning("Trusts without jobs are left in Keystone: %s", error)

    def _sweep(self, store: Store, trusts: Trusts) -> None:
        try:
            submissions.sweep(store, trusts)
        except (TrustError, *DATABASE_ERRORS) as error:
            LOG.warning("Trusts without jobs are left in Keystone: %s", error)
        finally:
            self._sweeping.release()
