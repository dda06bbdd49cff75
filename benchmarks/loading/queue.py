"""Part b: a long queue before a cloud: polls of the manager, memory, and answers of the API."""

import itertools
import random
import statistics
import threading
import time

from . import tables, workload
from .site import Site, cpu_seconds, memory, wait_for
from .stopwatch import OF_THE_CLOUD, WITHIN

#: Seconds between two ends of jobs, and between two of the requests whose answers are timed.
CHURN, PAUSE = 3.0, 0.05
COLUMNS = ("number", "median", "95 %", "longest")


def table(site: Site, policy: str, waiting: int, seconds: float) -> None:
    """Submit the jobs, watch manager and API while one job after the other ends, and print."""
    began = time.perf_counter()
    uuids = [_submit(site, job) for job in itertools.islice(_jobs(), waiting)]
    submitting = time.perf_counter() - began
    with site.manager(policy=policy) as pid:
        wait_for(lambda: _full(site), "the cloud is full")
        began, used = time.time(), cpu_seconds(site.api_pid)
        answers = _load(site, uuids, seconds)
        used = cpu_seconds(site.api_pid) - used
        polls = [poll for poll in site.polls() if poll["at"] > began]
        sizes = {"manager": memory(pid), "API": memory(site.api_pid)}
    hosts = len(site.info["hosts"])
    print(f"\n{waiting:,} jobs for {hosts} hosts, {policy}, {seconds:.0f} s")
    print(f"submitted through the API at {waiting / submitting:.0f} a second\n")
    _polls(polls)
    print()
    tables.head("answers of the API, ms", *COLUMNS)
    for request, times in answers.items():
        row(request, times)
    requests = sum(map(len, answers.values()))
    print(f"\nCPU time of the API: {1000 * used / requests:.1f} ms a request\n")
    tables.head("memory, MiB", "now", "at most")
    for name, values in sizes.items():
        tables.row(name, *(f"{value:.0f}" for value in values))


def _polls(polls: list[dict]) -> None:
    tables.head("polls of the manager, ms", *COLUMNS, "CPU, median")
    for name, chosen in (
        ("all of a poll", polls),
        ("all of a poll with a pass", [poll for poll in polls if "play" in poll["wall"]]),
    ):
        row(name, *_times(chosen, "poll"))
    for part in dict.fromkeys(part for _owner, _name, part in (*OF_THE_CLOUD, *WITHIN)):
        row(f"of it: {part}", *_times(polls, part))


def _times(polls: list[dict], part: str) -> list[list[float]]:
    """By the clock on the wall, and of CPU time."""
    return [
        [poll[clock][part] for poll in polls if part in poll[clock]] for clock in ("wall", "cpu")
    ]


def _jobs():
    return workload.jobs(0.0, largest=8)


def _submit(site: Site, job) -> str:
    body = {"size": job.size, "cpu": job.cpu[0]}
    if job.estimate:
        body["estimate"] = job.estimate
    return site.api("POST", "/v1/jobs", json=body)["uuid"]


def _in_state(site: Site, state: str) -> list[str]:
    return [job["uuid"] for job in site.api("GET", f"/v1/jobs?state={state}")["jobs"]]


def _full(site: Site) -> bool:
    """Whether jobs run, and none is just starting or ending."""
    passing = ("starting", "ending", "preempting", "restoring")
    return bool(_in_state(site, "running")) and not any(_in_state(site, s) for s in passing)


def _load(site: Site, uuids: list[str], seconds: float) -> dict[str, list[float]]:
    """Seconds of each request, by what it is, while jobs end."""
    rng = random.Random(1)  # noqa: S311
    over = threading.Event()

    def churn():
        while not over.wait(CHURN):
            for uuid in _in_state(site, "running")[:1]:
                site.api("POST", f"/v1/jobs/{uuid}/complete")

    found = {"list of 100": [], "list of all": [], "show": [], "explain": []}
    ender = threading.Thread(target=churn)
    ender.start()
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            uuid = rng.choice(uuids)
            paths = ("?limit=100", "", f"/{uuid}", f"/{uuid}/explain")
            for name, path in zip(found, paths, strict=True):
                began = time.perf_counter()
                site.api("GET", f"/v1/jobs{path}")
                found[name].append(time.perf_counter() - began)
                time.sleep(PAUSE)
    finally:
        over.set()
        ender.join()
    return found


def row(name: str, times: list[float], *others: list[float]) -> None:
    """Of the others, the median."""
    if times:
        ordered = sorted(times)
        high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        values = statistics.median(times), high, ordered[-1], *map(statistics.median, others)
        tables.row(name, len(times), *(f"{1000 * value:.1f}" for value in values))
