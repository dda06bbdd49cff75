"""How many servers Nova boots by itself: what a queue before it could reach at most."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .site import Site, wait_for

NAME = "plain"
#: Requests at the same time, as many as a manager makes by default, and servers that are not up
#: yet: with more, Nova would only be slower.
AT_ONCE, BUILDING = 8, 32
#: Seconds between two looks at the servers.
LOOK = 1.0


def rate(site: Site, offered: float, seconds: float, life: float) -> float:
    """Servers that became ACTIVE a second; each is deleted after its life.

    :param offered: requests a second, if Nova keeps up.
    """
    flavor = site.plain_flavor
    free = threading.Semaphore(AT_ONCE)
    up: dict[str, float] = {}
    deleted: set[str] = set()
    novas = threading.local()

    def nova():
        if not hasattr(novas, "client"):
            novas.client = site.another_nova()
        return novas.client

    def create() -> None:
        try:
            nova().servers.create(NAME, site.info["image"], flavor, nics="none")
        finally:
            free.release()

    def look(requests: ThreadPoolExecutor) -> None:
        now = time.monotonic()
        for server in _listed(site, status="ACTIVE"):
            if now > up.setdefault(server.id, now) + life and server.id not in deleted:
                deleted.add(server.id)
                requests.submit(lambda uuid=server.id: nova().servers.delete(uuid))

    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE + 2) as requests:
        number, looked = 0, began
        while (now := time.monotonic()) < began + seconds:
            if now > looked + LOOK:
                look(requests)
                looked = time.monotonic()
            due = number < min((now - began) * offered, len(up) + BUILDING)
            if due and free.acquire(timeout=0.1):
                requests.submit(create)
                number += 1
            else:
                time.sleep(0.02)
        look(requests)
        found = len(up) / (time.monotonic() - began)
        for server in _listed(site):
            requests.submit(lambda uuid=server.id: nova().servers.delete(uuid))
    wait_for(lambda: not _listed(site), "none is left", 2.0)
    return found


def _listed(site: Site, **search) -> list:
    search |= {"all_tenants": 1, "name": f"^{NAME}"}
    return site.nova.servers.list(detailed=False, search_opts=search)
