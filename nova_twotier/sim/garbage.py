"""Less frequent garbage collection while a trace is read or a simulation runs."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collected_seldom() -> Iterator[None]:
    """Collect garbage a hundred times less often, and as before afterwards.

    Reading a trace and running a simulation keep most of what they make and make no cycles, so
    collections find nothing in it; they would take up to a fifth of the time.
    """
    before = gc.get_threshold()
    gc.set_threshold(100 * before[0], *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
