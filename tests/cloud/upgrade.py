"""A queue whose programs are of the previous release or of this one, on a real cloud."""

import contextlib
import subprocess
import sys
import time
from dataclasses import dataclass

import requests
from novaclient.exceptions import NotFound

from nova_twotier import conf as configuration
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.db.store import Store
from nova_twotier.tools.faults.files import configure
from nova_twotier.tools.replay.invariants import CAPACITY, GANG, ONE_CLAIM, WHOLE, Invariants
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.sampling import Sampler
from nova_twotier.tools.replay.workload import ReplayJob
from tests import previous_release
from tests.cloud.waiting import wait_for
from tests.ports import free_port

POOL = "upgraded"
#: What an API without Keystone reads as user and project.
TOKEN = "admin:admin"
LAUNCHED = "OS-SRV-USG:launched_at"


@dataclass(frozen=True)
class Trace:
    """What Nova and Placement know of a server that would differ if it had been touched."""

    host: str
    created: str
    launched: str
    #: Ids of the requests about it, in Nova's own record.
    requests: tuple[str, ...]
    tier: str


class Site:
    """A queue with a database of its own, and the programs that work on it.

    Its `with` ends them.

    :param old: the directory of the previous release's code.
    """

    def __init__(self, cloud, directory, old):
        self.directory, self._old = directory, old
        self._programs = contextlib.ExitStack()
        self.database = directory / "state" / "twotier.sqlite"
        self.files = self._configure(cloud.info(), "queue.conf")
        self.conf = configuration.load(self.files, "test")
        self.cloud = Cloud(self.conf)
        self.sampler = Sampler(self.cloud, placement_for(self.conf))
        self.sampler.shapes()
        self.roster = Roster()
        self.invariants = Invariants(self.roster)
        self._info = cloud.info()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._programs.close()

    def _configure(self, info, name, **api):
        sections = {
            "manager": {"pools": POOL, "prediction_interval": 0},
            "api": {"auth_strategy": "noauth", "listen": "127.0.0.1", **api},
            "coordination": {"lease": 4},
        }
        return configure(info, self.directory, name, sections)

    def python(self, release, module, *arguments):
        """The arguments of `subprocess` that run a module of the release, "old" or "new"."""
        old = release == "old"
        return {
            "args": [sys.executable, "-m", f"nova_twotier.cmd.{module}", *self.files, *arguments],
            "cwd": self._old if old else previous_release.ROOT,
            "env": previous_release.environment(self._old if old else previous_release.ROOT),
        }

    def run(self, release, module, *arguments):
        """Run a program to its end; returns exit code and what it wrote."""
        done = subprocess.run(
            **self.python(release, module, *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=90,
        )
        return done.returncode, done.stdout

    def manager(self, release):
        """Start a queue manager; it need not lead."""
        return self._start(self.python(release, "manager"), f"{release}-manager.log")

    def api(self, release):
        """Start an API; returns its process and its address."""
        port = free_port()
        files = self._configure(self._info, f"{release}-api.conf", port=port)
        command = self.python(release, "api")
        command["args"] = [*command["args"][:3], *files]
        process = self._start(command, f"{release}-api.log")
        url = f"http://127.0.0.1:{port}"

        def answers():
            assert process.poll() is None, "the API has ended"
            with contextlib.suppress(requests.ConnectionError):
                return requests.get(url, timeout=30).ok

        wait_for(answers, "the API")
        return process, url

    def _start(self, command, log):
        with (self.directory / log).open("ab") as output:
            process = subprocess.Popen(**command, stdout=output, stderr=output)
        self._programs.callback(stop, process)
        return process

    def await_leader(self, process, release):
        """Wait until the manager with this process leads. Its database is not opened for that:
        whoever opens it upgrades it."""
        log = self.directory / f"{release}-manager.log"

        def leads():
            assert process.poll() is None, "the manager has ended"
            return f":{process.pid} leads pool {POOL}" in log.read_text()

        wait_for(leads, "the manager to lead")

    def submit(self, url, name, size):
        asked = {"name": name, "size": size, "cpu": [0.5] * size, "pool": POOL}
        made = post(f"{url}/v1/jobs", asked)
        self._enter(made["number"], made["uuid"], name, size)
        return made["uuid"]

    def submit_array(self, url, name, indexes, most):
        asked = {"name": name, "size": 1, "indexes": indexes, "most_at_once": most, "pool": POOL}
        post(f"{url}/v1/arrays", asked)
        tasks = [job for job in self.jobs(url).values() if job["name"] == name]
        for job in tasks:
            self._enter(job["number"], job["uuid"], name, 1)
        return [job["uuid"] for job in tasks]

    def _enter(self, number, uuid, name, size):
        job = ReplayJob(number, name, 0.0, 0.0, None, size, (0.5,) * size)
        self.roster.add(Entry(number, uuid, job))

    def jobs(self, url):
        """The jobs by uuid, as the API lists them."""
        answer = requests.get(f"{url}/v1/jobs", headers={"X-Auth-Token": TOKEN}, timeout=30)
        assert answer.ok, answer.text
        return {job["uuid"]: job for job in answer.json()["jobs"]}

    def look(self, url):
        """The jobs; checks that the cloud is as it must be at any time."""
        before, sample, jobs = self.jobs(url), self.sampler.sample(time.time()), self.jobs(url)
        running = {
            job["number"]
            for uuid, job in jobs.items()
            if job["state"] == before.get(uuid, {}).get("state") == "running"
        }
        self.invariants.see(sample, time.monotonic(), running)
        return jobs

    def await_states(self, url, **states):
        """Wait until each of the jobs is in its state; `uuid=(state, tier)`."""

        def reached():
            jobs = self.look(url)
            return all((jobs[u]["state"], jobs[u]["tier"]) == each for u, each in states.items())

        wait_for(reached, f"jobs to be {states}")

    def complete(self, url, *uuids):
        for uuid in uuids:
            post(f"{url}/v1/jobs/{uuid}/complete", None)

    def traces(self):
        """The servers of jobs, by id."""
        sample = self.sampler.sample(time.time())
        nova = self.cloud.nova
        ours = {server.id: server for server in sample.servers if self.roster.find(server.job)}
        traces = {}
        for uuid in ours:
            # One may have been deleted since the sample.
            with contextlib.suppress(NotFound):
                server, claim = nova.servers.get(uuid), sample.claim(ours[uuid])
                asked = tuple(each.request_id for each in nova.instance_action.list(uuid))
                tier = claim and f"{claim.tier} of {claim.host}"
                host = getattr(server, "OS-EXT-SRV-ATTR:host")
                traces[uuid] = Trace(host, server.created, getattr(server, LAUNCHED), asked, tier)
        return traces

    def check_end(self):
        """Whether every job ran once, and no invariant was broken on the way."""
        for name in (CAPACITY, GANG, ONE_CLAIM, WHOLE):
            assert self.invariants.all[name].holds, self.invariants.all[name]
        store = Store(self.conf.database.connection)
        with contextlib.closing(store):
            for entry in self.roster:
                kinds = [event.kind for event in store.events(entry.number)]
                assert kinds.count("started") == 1, (entry.label, kinds)
                assert kinds.count("finished") == 1, (entry.label, kinds)


def post(url, body):
    answer = requests.post(url, json=body, headers={"X-Auth-Token": TOKEN}, timeout=60)
    assert answer.ok, answer.text
    return answer.json() if answer.content else None


def stop(process):
    """End a program as systemd does."""
    process.terminate()
    try:
        process.wait(30)
    finally:
        process.kill()
        process.wait()
