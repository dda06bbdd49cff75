"""The manager's wall clock jumps.

`python -m nova_twotier.tools.faults.clock FILE ARGUMENTS` is `twotier-manager ARGUMENTS` with a
clock that is wrong by as many seconds as the file says. libfaketime does this to any program, but
with 0.9.10 `time.sleep` fails after a jump.
"""

import pathlib
import sys
import time

from nova_twotier.tools.faults.mishaps import Mishap
from nova_twotier.tools.faults.site import Site


def set_offset(file: pathlib.Path, seconds: int) -> None:
    # The process must never read half a file.
    new = file.with_suffix(".new")
    new.write_text(str(seconds))
    new.replace(file)


class ClockJumps(Mishap):
    """The clock goes forward, back, further back and to the right time, with pauses between.

    :param far: seconds that it is wrong by.
    """

    kind = "clock"

    def __init__(self, at: float, site: Site, offset: pathlib.Path, far: int, pause: float):
        super().__init__(at, site)
        self._offset = offset
        self._far = far
        self._pause = pause

    def happen(self) -> None:
        for seconds in (self._far, 0, -self._far):
            set_offset(self._offset, seconds)
            self.happened = True
            self.note("jumped", f"{seconds:+d} s off")
            if self.over.wait(self._pause):
                break
        set_offset(self._offset, 0)
        self.note("jumped", "right again")


def main() -> int:
    offset, *arguments = sys.argv[1:]
    right, file = time.time, pathlib.Path(offset)
    # Before the manager is imported, parts of which keep the function.
    time.time = lambda: right() + float(file.read_text())
    from nova_twotier.cmd import manager

    return manager.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
