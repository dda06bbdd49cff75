"""Measures the manager, its API and its commands on a fake cloud of many hosts."""

import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence

from nova_twotier import conf as config
from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import DEFAULT_POOL

from . import starts, tables
from .site import Site, cpu_seconds, memory, wait_for

#: Jobs that run while the polls are measured: their sizes.
FEW = (4, 4, 2, 2, 1, 1, 1, 1)
#: Seconds without a change before idle polls are measured, and after each change of a server.
REST, AFTER = 20.0, 4.0
#: Changes of a server, and repetitions of a listing.
CHANGES, TIMES = 5, 3


def table(site: Site, seconds: float, sizes: Sequence[int]) -> None:
    """
    :param seconds: for which idle polls are measured.
    :param sizes: of the jobs whose starts are measured.
    """
    hosts = len(site.info["hosts"])
    print(f"\n{hosts:,} hosts of {site.info['slots']} slots\n")
    tables.head("", "figure", "load")
    _row("until the cloud is ready", f"{site.took:.0f} s")
    for name, pid in site.info["pids"].items():
        _row(f"CPU of {name} until then", f"{cpu_seconds(pid):.0f} s")
    with site.manager(pools=DEFAULT_POOL):
        _row("first poll, which makes the ledger", _poll(site.polls()[:1]))
    with site.manager(pools=DEFAULT_POOL) as pid:
        _row("first poll of a manager that takes over", _poll(site.polls()[:1]))
        jobs = [_submit(site, size) for size in FEW]
        wait_for(lambda: all(_state(site, job) == "running" for job in jobs), "the jobs run")
        time.sleep(REST)
        _idle(site, pid, seconds)
        _row("poll after a server changed", _poll(_after_changes(site)))
        _listings(site)
        _commands(site)
        for name, each in (("manager", pid), *site.info["pids"].items()):
            _row(f"memory of {name}, now and at most", "{:.0f}, {:.0f} MiB".format(*memory(each)))
        for job in jobs:
            site.api("POST", f"/v1/jobs/{job}/complete")
        wait_for(lambda: not site.nova.servers.list(search_opts={"all_tenants": 1}), "none is left")
    for size in sizes:
        starts.table(site, size, 1, commands=True)


def _row(what: str, figure: str) -> None:
    tables.row(what, figure, f"{os.getloadavg()[0]:.1f}")


def _poll(polls: list[dict]) -> str:
    """The medians of some polls, and their longest if there are several."""

    def of(values: list[float], unit: float, digits: int) -> str:
        text = f"{unit * statistics.median(values):.{digits}f}"
        return f"{text} ({unit * max(values):.{digits}f})" if len(values) > 1 else text

    cpu, wall = ([each[clock]["poll"] for each in polls] for clock in ("cpu", "wall"))
    requests = [each["requests"] for each in polls]
    return (
        f"{of(cpu, 1000, 0)} ms of CPU, {of(wall, 1000, 0)} ms by the clock, "
        f"{of(requests, 1, 0)} requests"
    )


def _submit(site: Site, size: int) -> str:
    return site.api("POST", "/v1/jobs", json={"size": size, "cpu": 0.5})["uuid"]


def _state(site: Site, job: str) -> str:
    return site.api("GET", f"/v1/jobs/{job}")["state"]


def _idle(site: Site, pid: int, seconds: float) -> None:
    pids = {"manager": pid, **site.info["pids"]}
    before = {name: cpu_seconds(each) for name, each in pids.items()}
    began = time.time()
    time.sleep(seconds)
    used = {name: cpu_seconds(each) - before[name] for name, each in pids.items()}
    polls = [poll for poll in site.polls() if poll["at"] > began]
    _row(f"idle poll, median (most) of {len(polls)}", _poll(polls))
    for name, each in used.items():
        _row(f"CPU of {name} meanwhile", f"{each / seconds:.1%} of a core")


def _after_changes(site: Site) -> list[dict]:
    """Of the polls after each change of a server, the one that noticed it."""
    server = site.nova.servers.list(search_opts={"all_tenants": 1})[0]
    found = []
    for number in range(CHANGES):
        began = time.time()
        site.nova.servers.update(server, name=f"{server.name}-{number}")
        time.sleep(AFTER)
        later = [poll for poll in site.polls() if poll["at"] > began]
        found.append(max(later, key=lambda poll: poll["cpu"]["poll"]))
    return found


def _listings(site: Site) -> None:
    conf = config.load([f"--config-file={site.info['files']['manager_conf']}"], "benchmark")
    cloud = Cloud(conf)
    reader = cloud._reader
    for name, read in (
        ("all servers", reader.servers),
        ("all hosts, which is the next three", cloud.hosts),
        ("hypervisors", reader.host_names),
        ("compute services", reader.computes),
        ("aggregates", reader.aggregates),
        ("all flavors", reader.flavors),
    ):
        times = [_seconds(read) for _time in range(TIMES)]
        _row(f"listing of {name}", f"{statistics.median(times):.2f} s")


def _commands(site: Site) -> None:
    for name, command in (
        ("twotier-manage ledger verify", lambda: site.manage("ledger", "verify")),
        ("openstack twotier host list", lambda: site.command("twotier", "host", "list")),
        ("GET /v1/hosts", lambda: site.api("GET", "/v1/hosts")),
    ):
        before = _of_children()
        took, used = _seconds(command), _of_children() - before
        _row(name, f"{took:.2f} s" + (f", {used:.2f} s of CPU" if used else ""))


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _of_children() -> float:
    """CPU seconds of commands that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
