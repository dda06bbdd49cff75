"""Where the time of a poll goes."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from unittest import mock

from nova_twotier.cloud.hosts import Hosts
from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.open_jobs import OpenJobs
from nova_twotier.ledger.claim_cache import ClaimCache
from nova_twotier.manager.decision import Decisions
from nova_twotier.manager.engine import Engine
from nova_twotier.manager.reasons import Reasons

#: What is timed: whose method or name it is, and what it is called here. Some are parts of others.
WITHIN = (
    (OpenJobs, "read", "read jobs"),
    (Decisions, "decide", "pass"),
    (Decisions, "_ask", "play"),
    (Reasons, "renew", "reasons"),
    (Reasons, "tell", "reasons"),
    (Engine, "_write", "write"),
)
OF_THE_CLOUD = (
    (Hosts, "refresh", "hosts"),
    (Cloud, "servers", "servers"),
    (ClaimCache, "poll", "claims"),
    (Engine, "_observe", "see"),
)


class Stopwatch:
    """Seconds of a poll by part, by the clock on the wall and of this thread's CPU time."""

    def __init__(self):
        self.wall: Counter[str] = Counter()
        self.cpu: Counter[str] = Counter()

    @contextlib.contextmanager
    def watching(
        self, parts: Iterable[tuple[object, str, str]] = (*WITHIN, *OF_THE_CLOUD)
    ) -> Iterator[None]:
        """While the manager polls."""
        with contextlib.ExitStack() as stack:
            for owner, name, part in parts:
                timed = self.timed(getattr(owner, name), part)
                stack.enter_context(mock.patch.object(owner, name, timed))
            yield

    def timed(self, function: Callable, part: str) -> Callable:
        """The same function, whose time counts."""

        def timed(*args, **kwargs):
            wall, cpu = time.perf_counter(), time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.wall[part] += time.perf_counter() - wall
                self.cpu[part] += time.thread_time() - cpu

        return timed
