"""Less frequent garbage collection while a simulation runs."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collected_seldom() -> Iterator[None]:
    """Collect garbage a hundred times less often, and as before afterwards.

    A run keeps most of what it makes and makes no cycles, so collections find nothing in it; they
    would take up to a fifth of its time.
    """
    before = gc.get_threshold()
    gc.set_threshold(100 * before[0], *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
