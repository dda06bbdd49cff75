"""Part c: from the submission of a job to the instant at which all its servers are ACTIVE."""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from . import tables
from .site import Site, wait_for

#: Seconds between two looks at which servers are ACTIVE.
PAUSE = 0.3
PLAIN, OURS = "plain", "tt"
DIRECTLY, AS_COMMANDS = ("Nova's API", "our API"), ("server create", "job create")
GROUPED = "Nova's API, a server group"


def table(site: Site, size: int, rounds: int, commands: bool, without: Site | None = None) -> None:
    """Each way in turn, `rounds` times: a line for each round, and the ratios of the medians.

    :param without: where plain servers are requested; by default on the same cloud.
    """
    hosts = len(site.info["hosts"])
    print(f"\nseconds from the request of {size} VMs until all are ACTIVE, {hosts} hosts\n")
    ways = dict(zip(DIRECTLY, (_plain, _job), strict=True))
    ways[GROUPED] = _grouped
    if commands:
        ways |= zip(AS_COMMANDS, (_plain_command, _job_command), strict=True)
    tables.head("round", *ways)
    found = {name: [] for name in ways}
    with site.manager():
        for number in range(rounds):
            for name, way in ways.items():
                ours = way in (_job, _job_command)
                found[name].append(way(site if ours or not without else without, size))
            tables.row(number + 1, *(f"{times[-1]:.2f}" for times in found.values()))
    median = {name: statistics.median(times) for name, times in found.items()}
    tables.row("median", *(f"{seconds:.2f}" for seconds in median.values()))
    print()
    pairs = [DIRECTLY, (GROUPED, DIRECTLY[1]), *([AS_COMMANDS] if commands else [])]
    for plain, ours in pairs:
        print(f"{ours} over {plain}: {median[ours] / median[plain]:.2f}")


def _plain(site: Site, size: int, **options) -> float:
    def create():
        site.nova.servers.create(
            *(PLAIN, site.info["image"], site.plain_flavor),
            min_count=size,
            max_count=size,
            nics="none",
            **options,
        )

    return _until_active(site, PLAIN, size, create, lambda: _delete(site))


def _grouped(site: Site, size: int) -> float:
    """Time to boot plain servers in a server group, in seconds."""
    group = site.nova.server_groups.create(PLAIN, "soft-affinity").id
    took = _plain(site, size, scheduler_hints={"group": group})
    site.nova.server_groups.delete(group)
    return took


def _plain_command(site: Site, size: int) -> float:
    def create():
        site.command(
            *("server", "create", "--min", str(size), "--max", str(size), "--wait"),
            *("--flavor", site.info["plain_flavor"], "--image", site.info["image"]),
            *("--nic", "none", PLAIN),
        )

    return _until_active(site, PLAIN, size, create, lambda: _delete(site))


def _job(site: Site, size: int) -> float:
    job = {"size": size, "cpu": 0.5, "name": OURS}
    return _until_active(
        site, OURS, size, lambda: site.api("POST", "/v1/jobs", json=job), lambda: _cancel(site)
    )


def _job_command(site: Site, size: int) -> float:
    def create():
        site.command(
            *("twotier", "job", "create", "--name", OURS, "--size", str(size)),
            *("--cpu", "0.5", "--wait"),
        )

    return _until_active(site, OURS, size, create, lambda: _cancel(site))


def _until_active(
    site: Site, name: str, size: int, create: Callable[[], object], clear: Callable[[], None]
) -> float:
    """Seconds; all is as before when it returns."""
    with ThreadPoolExecutor(1) as requests:
        began = time.perf_counter()
        request = requests.submit(create)

        def done() -> bool:
            if request.done():
                request.result()  # what went wrong
            return site.active(name) == size

        wait_for(done, f"{size} servers {name} are ACTIVE", PAUSE)
        took = time.perf_counter() - began
    clear()
    wait_for(lambda: not site.nova.servers.list(search_opts={"all_tenants": 1}), "none is left")
    return took


def _delete(site: Site) -> None:
    for server in site.nova.servers.list(search_opts={"all_tenants": 1}):
        site.nova.servers.delete(server.id)


def _cancel(site: Site) -> None:
    def running() -> list[str]:
        jobs = site.api("GET", "/v1/jobs")["jobs"]
        return [job["uuid"] for job in jobs if job["finished_at"] is None]

    for uuid in running():
        site.api("DELETE", f"/v1/jobs/{uuid}")
    wait_for(lambda: not running(), "the job is cancelled")
