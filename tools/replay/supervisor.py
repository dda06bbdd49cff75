"""Keeps a program running, as systemd would."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable

from nova_twotier.tools.replay.errors import ReplayError

#: Seconds before a restart, and how often in a row a program may end within the time below.
PAUSE = 0.5
QUICK_DEATHS = 3
QUICK = 3.0
#: Seconds that it has to stop by itself.
GRACE = 20.0


class Supervisor:
    """Starts `argv` on entry, restarts it whenever it ends, and stops it on exit.

    :param say: called with a line whenever it was restarted.
    :ivar kills: how often `kill` found it at work.
    :ivar deaths: how often it ended by itself, or by somebody else.
    """

    def __init__(self, name: str, argv: list[str], log, say: Callable[[str], None]):
        self._name = name
        self.argv = argv
        self._log = log
        self._say = say
        self.kills = 0
        self.deaths = 0
        self._killed: set[int] = set()
        self._stopping = threading.Event()
        self._gave_up = ""
        self._lock = threading.Lock()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    @property
    def pid(self) -> int:
        return self._child.pid

    def check(self) -> None:
        """:raises ReplayError: if the program ended again and again."""
        if self._gave_up:
            raise ReplayError(self._gave_up)

    def kill(self) -> bool:
        """Kill it at any instant (-9); whether it was alive. It is restarted as after any death."""
        with self._lock:
            if self._child.poll() is not None:
                return False
            self._killed.add(self._child.pid)
            self._child.kill()
            self._child.wait()
            self.kills += 1
            return True

    def __enter__(self):
        self._start()
        self._watcher.start()
        return self

    def __exit__(self, *_):
        self._stopping.set()
        # Under the lock no new child can come between the signal and the end.
        with self._lock:
            self._child.terminate()
        try:
            self._child.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._say(f"{self._name}: does not stop after {GRACE:.0f} s, killed")
            self._child.kill()
            self._child.wait()
        self._watcher.join()

    def _start(self) -> None:
        # A session of its own: Ctrl-C in the terminal is for us, we stop the child in our turn.
        with open(self._log, "ab") as output:
            self._child = subprocess.Popen(  # noqa: S603 - the caller's own program
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._started = time.monotonic()

    def _watch(self) -> None:
        quick = 0
        while True:
            code = self._child.wait()
            old = self._child.pid
            quick = quick + 1 if time.monotonic() - self._started < QUICK else 0
            if old in self._killed:
                quick = 0
            elif not self._stopping.is_set():
                self.deaths += 1
            if self._stopping.wait(PAUSE):
                return
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            if quick >= QUICK_DEATHS:
                self._gave_up = (
                    f"the {self._name} ended {quick} times at once ({how}); why is in {self._log}"
                )
                return
            with self._lock:
                if self._stopping.is_set():
                    return
                self._start()
            self._say(f"the {self._name} (pid {old}) died ({how}); restarted as pid {self.pid}")


def python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module with this very interpreter."""
    return [sys.executable, "-m", module, *arguments]
