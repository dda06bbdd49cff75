"""`twotier-sim`: the command line of the simulator, one command a module."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

from nova_twotier.sim.cli.app import Simulator

#: Exit codes after signals; the first is cliff's.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


def main(args: list[str] | None = None) -> int:
    """Run a command; the exit code: 0, 2 for a mistake of the user, 1 for one of ours.

    After a signal, 128 and its number, as in a shell: 130 after Ctrl-C, 143 after SIGTERM.
    """
    _open_what_is_closed()
    try:
        try:
            with _terminated_as_interrupted() as terminated:
                code = Simulator().run(sys.argv[1:] if args is None else args)
            if code == INTERRUPTED and terminated.is_set():
                code = TERMINATED
        finally:
            # Here, not at the exit of the interpreter: also after a --help, which exits.
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe (`| head`).
        _give_up_output()
        return 0
    except OSError as error:
        # What was printed did not find room, for example on a full disk.
        print(f"{Simulator.NAME}: standard output: {error.strerror}", file=sys.stderr)
        _give_up_output()
        return 2
    return code


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[threading.Event]:
    """Make SIGTERM act like Ctrl-C: worker processes end, and no partial file is left.

    The event tells whether it came.
    """
    terminated = threading.Event()

    def interrupt(_number, _frame):
        terminated.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield terminated
    finally:
        signal.signal(signal.SIGTERM, before)


def _open_what_is_closed() -> None:
    """Replace closed output (`>&-`) by /dev/null, so that a run can still write its files."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def _give_up_output() -> None:
    """Keep the interpreter from complaining at its exit about what could not be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
