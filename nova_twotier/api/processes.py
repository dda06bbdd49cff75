"""Starts the child processes of a service, restarts those that end, and stops them."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import wait

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

#: They share what the parent has made, such as the application and the socket that listens.
FORK = multiprocessing.get_context("fork")
#: What these processes are told.
SIGNALS = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGTERM})
#: Seconds before a process that has ended by itself is replaced, so that a broken one does not
#: keep the machine busy.
PAUSE = 1.0
#: Seconds after which the first process is killed if it has not stopped: more than requests have.
PATIENCE = 10.0


class Processes:
    """Child processes that run until this process is told to stop by a signal.

    :param works: what each child runs, by its name. The `SIGNALS` are blocked when it begins: it
        sets handlers of its own, and then unblocks them. The first child gets SIGTERM and finishes;
        the others, which it may need for that, are killed afterwards.
    """

    def __init__(self, works: Mapping[str, Callable[[], None]]):
        self._works = works
        self._children: dict = {}

    def run(self) -> None:
        """Run until SystemExit is raised in this thread; replace each child that ends by itself."""
        try:
            while True:
                self._start_missing()
                # If one could not be started, this is tried again.
                later = None if len(self._children) == len(self._works) else PAUSE
                if wait([child.sentinel for child in self._children.values()], later):
                    self._forget_ended()
                    time.sleep(PAUSE)
        finally:
            self._stop()

    def pass_on(self, number: int) -> None:
        """Send a signal to all child processes."""
        for child in self._children.values():
            if child.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, number)

    def _start_missing(self) -> None:
        for name, work in self._works.items():
            if name in self._children:
                continue
            # No signal may come before the child is known here, and has its own handlers.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
            try:
                child = FORK.Process(target=_child, args=[work], name=name, daemon=True)
                child.start()
                self._children[name] = child
            except OSError as error:
                LOG.error("The process that serves %s could not be started: %s", name, error)
            else:
                LOG.info("Process %d serves %s", child.pid, name)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _forget_ended(self) -> None:
        for name, child in list(self._children.items()):
            if not child.is_alive():
                ended = "Process %d, which served %s, has ended with exit code %d: it is replaced"
                LOG.error(ended, child.pid, name, child.exitcode)
                del self._children[name]

    def _stop(self) -> None:
        first = self._children.get(next(iter(self._works)))
        if first is not None:
            first.terminate()
            first.join(PATIENCE)
        for child in self._children.values():
            child.kill()
            child.join()


def _child(work: Callable[[], None]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work()


def _end_with_parent() -> None:
    """End this process when its parent is gone, lest it keep the port."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)
