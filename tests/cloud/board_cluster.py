"""A store and a ledger as a manager leaves them on a large cluster, for the views of slots."""

import http.server
import itertools
import json
import random
import threading
import time
import uuid

from sqlalchemy import insert

from nova_twotier.core.actions import Tier
from nova_twotier.db import terms
from nova_twotier.db.models import Job, Place, PoolPrediction, Prediction
from nova_twotier.ledger import names

HOUR = 3600.0
NAMES = ("ocean", "mesh", "assembly", "sweep", "turbulence", "alignment")
SIZES = (2, 4, 4, 8, 8, 16)


def host_name(number):
    return f"node{number:04}"


class Cluster:
    """Jobs, stays and predictions to be written into a store at once.

    :param hosts: their number; those from the `first` one on are filled at random.
    :param full: the share of their slots that jobs hold.
    :param jobs: so many there are at least: the rest of them wait.
    :param projects: that jobs are of if nothing else is said.
    """

    def __init__(self, hosts, slots=16, first=1, full=0.9, jobs=0, seed=7, projects=("climate",)):
        self.now = time.time()
        self.hosts, self.slots = hosts, slots
        self._chance, self._full = random.Random(seed), full
        self._projects = itertools.cycle(projects)
        self._numbers = itertools.count(1)
        self._jobs, self._places, self._predictions = [], [], []
        for host in range(first, hosts):
            for tier in ("fg", "bg"):
                self._fill(host_name(host), tier)
        while len(self._jobs) < jobs:
            self.waiting(400.0 * (1 + len(self._predictions)))

    @property
    def jobs(self):
        """The rows of all jobs, in the order of their submission."""
        return self._jobs

    @property
    def last_waiting(self):
        return [row for row in self._jobs if row["state"] == "queued"][-1]

    def job(self, size=1, name=None, project=None, state="running", tier="fg", since=-HOUR):
        """Its row."""
        number = next(self._numbers)
        row = {
            "number": number,
            "uuid": str(uuid.UUID(int=self._chance.getrandbits(128))),
            "name": name or f"{self._chance.choice(NAMES)}-{number}",
            "size": size,
            "cpu": [0.5],
            "submitted_at": self.now - 5 * HOUR,
            "project_id": project or next(self._projects),
            "user_id": "ana",
            "state": state,
            "tier": tier if state == "running" else None,
            "started_at": self.now + since if state == "running" else None,
            "run_since": self.now + since if state == "running" else None,
        }
        self._jobs.append(row)
        return row

    def waiting(self, start, length=HOUR, **job):
        """A job that is expected to start so many seconds from now."""
        row = self.job(state="queued", size=job.pop("size", 4), **job)
        self.predict(row, start=self.now + start, finish=self.now + start + length)
        return row

    def predict(self, job, **times):
        self._predictions.append({"job": job["number"], "made_at": self.now, **times})

    def stay(self, job, slot, begin, end=None, process=0, host=0, tier="fg"):
        """A process of a job on a slot, from and until so many seconds from now."""
        self._places.append(
            {
                "job": job["number"],
                "process": process,
                "server": str(uuid.UUID(int=self._chance.getrandbits(128))),
                "host": host if isinstance(host, str) else host_name(host),
                "tier": tier,
                "slot": slot,
                "since": self.now + begin,
                "until": None if end is None else self.now + end,
            }
        )

    def _fill(self, host, tier):
        slot = 0
        while slot < self.slots:
            size = min(self._chance.choice(SIZES), self.slots - slot)
            begin = -self._chance.uniform(0.2, 5) * HOUR
            if self._chance.random() < self._full:
                job = self.job(size, tier=tier, since=begin)
                for process in range(size):
                    self.stay(job, slot + process, begin, process=process, host=host, tier=tier)
                if self._chance.random() < 0.5:
                    self.predict(job, finish=self.now + self._chance.uniform(0.1, 3) * HOUR)
            slot += size

    def write(self, store):
        terms.begin(store, "default", "manager")
        pool = {
            "pool": "default",
            "made_at": self.now,
            "valid_until": self.now + 24 * HOUR,
            "estimator": "owner",
            "calibration": {"starts": [[], []], "finishes": [[], []]},
        }
        nothing = {"start": None, "finish": None, "work": 0.0, "ran": 0.0, "judged": 0}
        predictions = [{**nothing, **row} for row in self._predictions]
        with store.transaction() as session:
            for table, rows in (
                (Job, self._jobs),
                (Place, self._places),
                (PoolPrediction, [pool]),
                (Prediction, predictions),
            ):
                if rows:
                    session.execute(insert(table), rows)


class FakePlacement:
    """What the list of hosts reads of Placement, for hosts of equal size.

    :param closed: the number of closed slots by name of the host.
    """

    def __init__(self, hosts, slots=16, closed=None):
        self._hosts, self._slots, self._closed = hosts, slots, closed or {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        url = f"http://127.0.0.1:{self._server.server_port}"
        #: The section `[placement]` of the API's configuration.
        self.options = {"auth_type": "admin_token", "endpoint": url, "token": "any"}
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path):
        if path.startswith("/resource_providers"):
            return {"resource_providers": list(self._providers())}
        if path.startswith("/allocation_candidates"):
            return {"provider_summaries": dict(self._summaries())}
        return {"versions": []}

    def _names(self):
        for number in range(self._hosts):
            yield host_name(number), str(uuid.uuid5(uuid.NAMESPACE_DNS, host_name(number)))

    def _providers(self):
        for name, root in self._names():
            yield _provider(root, name, None)
            for tier in Tier:
                yield _provider(names.child_uuid(root, tier), f"{name}_twotier_{tier}", root)

    def _summaries(self):
        for name, root in self._names():
            for tier in Tier:
                closed = self._closed.get(name, 0) if tier == Tier.BG else 0
                yield (
                    names.child_uuid(root, tier),
                    {
                        "resources": {
                            names.SLOT: {"capacity": self._slots - closed, "used": 0},
                            names.CPU: {"capacity": 100 * self._slots, "used": 0},
                        },
                        "traits": [names.TRAIT[tier]],
                        "root_provider_uuid": root,
                    },
                )

    def _handler(placement):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                text = json.dumps(placement.answer(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                """Nothing: the log is the test's."""

        return Handler


def _provider(provider, name, parent):
    return {"uuid": provider, "name": name, "generation": 1, "parent_provider_uuid": parent}
