"""`twotier-sim`: the command line of the simulator, one command a module."""

import os
import sys

from nova_twotier.sim.cli.app import Simulator


def main(args: list[str] | None = None) -> int:
    """Run a command; the exit code: 0, 2 for a mistake of the user, 1 for one of ours."""
    try:
        code = Simulator().run(sys.argv[1:] if args is None else args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe (`| head`); keep the interpreter from complaining at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
