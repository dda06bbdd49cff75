"""Spoils a random share of the requests to a service."""

import random
import threading

from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.proxy import Fault, Request

KINDS = tuple(Fault)


class Spoiler:
    """An interposer. What happens to the first request, the second, ... follows from the chance.

    :param share: of the requests that are spoiled, 0..1.
    """

    def __init__(self, chance: random.Random, share: float, journal: Journal):
        self._chance = chance
        self._share = share
        self._journal = journal
        self._lock = threading.Lock()
        self.requests = 0
        self.spoiled = 0

    def before(self, request: Request) -> Fault | None:
        with self._lock:
            self.requests += 1
            # Both are drawn each time: a share of another size spoils a part of the same, or more.
            drawn, fault = self._chance.random(), self._chance.choice(KINDS)
            if drawn >= self._share:
                return None
            self.spoiled += 1
        self._journal.write(f"{request.service}: {fault}", f"{request.method} {request.path}")
        return fault

    def after(self, request: Request) -> None:
        """What was carried out is not spoiled any more."""
