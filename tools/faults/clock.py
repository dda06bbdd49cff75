"""The manager's clock jumps: libfaketime reads the offset from a file."""

import pathlib

from nova_twotier.tools.faults.mishaps import Mishap
from nova_twotier.tools.faults.site import Site

LIBRARY = "libfaketimeMT.so.1"
#: Where distributions put it.
PLACES = ("/usr/lib/*/faketime", "/usr/lib*/faketime", "/usr/local/lib/faketime")


def library() -> pathlib.Path | None:
    """None if libfaketime is not installed."""
    root = pathlib.Path("/")
    found = (path for place in PLACES for path in root.glob(f"{place[1:]}/{LIBRARY}"))
    return next(found, None)


def environment(offset: pathlib.Path) -> dict[str, str]:
    """What a process needs whose clock differs by what the file says; the monotonic one stays."""
    set_offset(offset, 0)
    return {
        "LD_PRELOAD": str(library()),
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }


def set_offset(file: pathlib.Path, seconds: int) -> None:
    # The process must never read half a file.
    new = file.with_suffix(".new")
    new.write_text(f"{seconds:+d}\n")
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
        for seconds in (self._far, 0, -self._far, 0):
            set_offset(self._offset, seconds)
            self.happened = True
            self.note("jumped", f"{seconds:+d} s off")
            if seconds and self.over.wait(self._pause):
                set_offset(self._offset, 0)
                return
