"""What watching boards cost other users of the API: python -m benchmarks.board

    --boards 20     that watch, each in its own process's thread and under its own user
    --hosts 1000    with 16 slots and two tiers each     --jobs 10000    that wait or run
    --rounds 3      without and with boards, in turn     --calls 300     measured in each

Prints the 50th and the 95th percentile of ordinary calls of the API, without boards and while they
watch, and their ratio. Figures, not tests.

Real: `twotier-api` in a process of its own, on SQLite. Played: what a queue manager writes (by
default a job starts and another ends every two seconds, as when 1,900 jobs run for an hour each);
Placement; and the boards: half of them watch the queue, a quarter each the slots and the timeline,
a quarter of all are operators', the others those of tenants of eight projects. They ask as the page
does, conditionally every 2 s, and less often if answers take long.
"""

import argparse
import contextlib
import http.client
import itertools
import json
import multiprocessing
import pathlib
import random
import statistics
import tempfile
import threading
import time
from urllib.parse import quote, urlencode

from sqlalchemy import select

from nova_twotier import conf as config
from nova_twotier.db import terms
from nova_twotier.db.models import Event, Job, Place
from nova_twotier.db.states import JobState
from nova_twotier.db.store import open_store
from tests.cloud.board_api import Api
from tests.cloud.board_cluster import Cluster, FakePlacement

PROJECTS = tuple(f"project{number}" for number in range(8))
VIEWS = ("queue", "now", "queue", "timeline")
#: As client.js and follow.js have it: seconds between polls, the most, and the share of the time.
INTERVAL, LONGEST, SHARE = 2.0, 30.0, 5
MARGIN, ROUND = 60.0, 10.0
VERSION = {"OpenStack-API-Version": "twotier 1.1", "Accept": "application/json"}
#: Seconds between two measured calls, and before the first one of a round.
PAUSE, SETTLE = 0.02, 6.0


class Connection:
    """A client of the API with one token and one connection.

    :param port: of the API on this machine.
    """

    def __init__(self, port, token, headers=()):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {**VERSION, "X-Auth-Token": token, **dict(headers)}

    def ask(self, path, tag=None, method="GET", body=None):
        """Send a request; the ETag and the body of the answer, which is empty for a 304."""
        headers = self._headers | ({"If-None-Match": tag} if tag else {})
        headers |= {"Content-Type": "application/json"} if body else {}
        self._connection.request(method, path, body and json.dumps(body), headers)
        answer = self._connection.getresponse()
        found = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {found.decode()}")
        return answer.getheader("ETag"), found


class Board:
    """A browser that polls one view of the board until it is told to stop."""

    def __init__(self, port, token, view, sees_all):
        self._connection = Connection(port, token, {"Cache-Control": "max-stale=4"})
        self._view, self._sees_all = view, sees_all
        #: The ETag of each last answer, and the links to its next page.
        self._known: dict[str, tuple[str | None, list[str]]] = {}

    def watch(self, stop):
        stop.wait(random.uniform(0, INTERVAL))  # noqa: S311
        while not stop.is_set():
            began = time.monotonic()
            for path, pages in self._paths():
                self._poll(path, pages)
            took = time.monotonic() - began
            stop.wait(min(max(INTERVAL, (SHARE - 1) * took), LONGEST))

    def _paths(self):
        """The paths that the view polls, each with whether it asks for further pages, too."""
        if self._view == "queue":
            every = {"all_projects": "true", "own_first": "true"} if self._sees_all else {}
            which = {**every, "phase": "waiting", "sort_key": "position", "limit": 60}
            yield f"/v1/queue/jobs?{urlencode(which)}", False
            return
        yield "/v1/hosts", True
        since = (time.time() - MARGIN) // ROUND * ROUND
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(since))
        which = {"from": at, "changed_since": at, "part": "recorded"}
        yield f"/v1/schedule?{urlencode(which)}", True
        if self._view == "timeline":
            yield "/v1/schedule?part=predicted&limit=100", False

    def _poll(self, path, pages):
        tag, following = self._known.get(path, (None, []))
        tag, found = self._connection.ask(path, tag)
        if found and pages:
            links = json.loads(found).get("links", ())
            following = [each["href"] for each in links if each["rel"] == "next"]
        self._known[path] = tag, following
        for href in following:
            self._poll("/" + href.split("/", 3)[3], pages)


def watch(port, number, stop):
    """Run this number of boards as threads of one process."""
    boards = []
    for index in range(number):
        operator = index % 4 == 0
        project = "ops" if operator else PROJECTS[index % len(PROJECTS)]
        token = f"user{index}:{project}:{'admin' if operator else 'member'}"
        view = VIEWS[index // 4 % 4 if operator else index % 4]
        boards.append(
            threading.Thread(target=Board(port, token, view, operator).watch, args=[stop])
        )
    for each in boards:
        each.start()
    for each in boards:
        each.join()


def change(file, every, stop):
    """What a manager writes: every so many seconds a job ends, and another one starts there."""
    store = open_store(config.load(["--config-file", file], "benchmark"))
    while not stop.wait(every):
        now = time.time()
        with store.transaction() as session:
            terms.require(session, "default", 1, lock=True)
            running = select(Job).where(Job.state == JobState.RUNNING).order_by(Job.started_at)
            old = session.scalars(running.limit(1)).one()
            places = session.scalars(
                select(Place).where(Place.job == old.number, Place.until.is_(None))
            ).all()
            old.state, old.finished_at = JobState.FINISHED, now
            waiting = select(Job).where(Job.state == JobState.QUEUED).order_by(Job.number)
            new = session.scalars(waiting.limit(1)).one()
            new.state, new.tier, new.started_at = JobState.RUNNING, old.tier, now
            for place in places:
                place.until = now
                kept = {name: getattr(place, name) for name in ("process", "host", "tier", "slot")}
                server = f"{place.server[:20]}-{new.number}"
                session.add(Place(job=new.number, server=server, since=now, **kept))
            session.add(Event(at=now, job=old.number, kind="finished", detail=""))
            session.add(Event(at=now, job=new.number, kind="started", detail=""))
    store.close()


def placement(hosts, slots, queue, stop):
    fake = FakePlacement(hosts, slots)
    queue.put(fake.options)
    stop.wait()
    fake.close()


def calls(connection, uuids):
    """Yield ordinary API calls in a fixed rotation, each with its name, without end."""
    for number in itertools.count():
        uuid = uuids[number % len(uuids)]
        yield "show a job", lambda uuid=uuid: connection.ask(f"/v1/jobs/{uuid}")
        yield "explain a job", lambda uuid=uuid: connection.ask(f"/v1/jobs/{uuid}/explain")
        yield "list 20 jobs", lambda: connection.ask("/v1/jobs?active=true&limit=20")
        yield "show the queue", lambda: connection.ask("/v1/queue")
        name = quote(f"measured-{number}")
        body = {"name": name, "size": 4, "estimate": 3600}
        yield "submit a job", lambda body=body: connection.ask("/v1/jobs", None, "POST", body)


def measured(todo, number):
    """Make this number of calls; the milliseconds that each took, by the name of the call."""
    found: dict[str, list[float]] = {}
    for name, call in itertools.islice(todo, number):
        time.sleep(PAUSE)
        began = time.perf_counter()
        call()
        found.setdefault(name, []).append(1000 * (time.perf_counter() - began))
    return found


def percentile(values, share):
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


def show(without, watched, boards):
    print(f"{'':16}{'without':>18}{f'{boards} boards':>18}")
    print(f"{'ms':16}{'p50':>9}{'p95':>9}{'p50':>9}{'p95':>9}{'ratio of p95':>15}")
    for name in [*without, "all"]:
        low, high = (
            [each for values in found.values() for each in values] if name == "all" else found[name]
            for found in (without, watched)
        )
        row = [percentile(values, share) for values in (low, high) for share in (50, 95)]
        print(f"{name:16}" + "".join(f"{each:9.1f}" for each in row) + f"{row[3] / row[1]:15.2f}")


@contextlib.contextmanager
def process(target, *arguments):
    """A process that ends when the context does."""
    stop = multiprocessing.Event()
    child = multiprocessing.Process(target=target, args=(*arguments, stop), daemon=True)
    child.start()
    try:
        yield
    finally:
        stop.set()
        child.join(30)
        if child.is_alive():
            child.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boards", type=int, default=20)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between changes")
    options = parser.parse_args()
    multiprocessing.set_start_method("spawn")
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        answers: multiprocessing.Queue = multiprocessing.Queue()
        stack.enter_context(process(placement, options.hosts, 16, answers))
        cluster = Cluster(options.hosts, full=0.35, jobs=options.jobs, projects=PROJECTS)
        # Neither late heartbeats nor limits are to decide here.
        api = Api(
            pathlib.Path(directory),
            DEFAULT={"debug": "false"},
            placement=answers.get(timeout=60),
            coordination={"lease": 86400},
            api={
                "rate_limit": "",
                "max_jobs_per_project": "-1",
                "max_processes_per_project": "-1",
            },
        )
        stack.callback(api.close)
        cluster.write(api.store)
        api.start()
        api.wait()
        uuids = [row["uuid"] for row in cluster.jobs if row["project_id"] == PROJECTS[0]]
        random.Random(1).shuffle(uuids)  # noqa: S311
        todo = calls(Connection(api.port, f"measured:{PROJECTS[0]}"), uuids)
        stack.enter_context(process(change, str(api.file), options.every))
        measured(todo, 50)
        without: dict[str, list[float]] = {}
        watched: dict[str, list[float]] = {}
        for _round in range(options.rounds):
            _add(without, measured(todo, options.calls))
            with process(watch, api.port, options.boards):
                time.sleep(SETTLE)
                _add(watched, measured(todo, options.calls))
        show(without, watched, options.boards)


def _add(sums, found):
    for name, values in found.items():
        sums.setdefault(name, []).extend(values)


if __name__ == "__main__":
    main()
