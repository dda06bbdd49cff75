"""One run: jobs, a manager, and the trouble that a scenario makes for it."""

import contextlib
import functools
import pathlib
import random
from dataclasses import dataclass

from rich.console import Console

from nova_twotier import conf as configuration
from nova_twotier.db.store import open_store
from nova_twotier.tools.fakecloud import bootstrap, handover
from nova_twotier.tools.faults import jobs, outcome
from nova_twotier.tools.faults.databases import Database, database
from nova_twotier.tools.faults.files import configure
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.killer import Killer
from nova_twotier.tools.faults.mishaps import (
    DatabaseRestart,
    HostDeath,
    Mishap,
    Outage,
    ServerLoss,
    Victims,
)
from nova_twotier.tools.faults.proxy import Proxy
from nova_twotier.tools.faults.scenarios import Scenario
from nova_twotier.tools.faults.spoiler import Spoiler
from nova_twotier.tools.faults.trouble import Troubles
from nova_twotier.tools.replay.run import Settings, replay
from nova_twotier.tools.replay.supervisor import Supervisor, python

#: Seconds after which the manager takes a request for lost, and for which the proxy holds one back.
TIMEOUT = 4.0
HOLD = TIMEOUT + 1.0
#: How often a job may begin anew, and seconds that the manager has to see that a gang is broken.
RETRIES = 20
PATIENCE = 60.0
#: Seconds that it has to take background VMs from under a slot that was closed.
LAG = 30.0
#: Seconds for which the database is away.
DATABASE_AWAY = 8.0
#: The part of the time over which jobs are submitted in which mishaps happen.
MIDDLE = (0.2, 0.8)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is.

    :param span: seconds over which the jobs are submitted.
    :param outage: seconds for which Placement is away; `death`: for which a host is.
    :param timeout: seconds after which a run that is not over never will be.
    """

    jobs: int
    kills: int
    span: float
    outage: float = 20.0
    death: float = 40.0
    timeout: float = 1800.0


class Trial:
    """A run of a scenario on a cloud that nobody else uses; its files stay in `out`.

    :param info: content of the cloud's `cloud.json`.
    :param seed: of the jobs and of the trouble.
    :param server: URL of a database server; by default one of this machine, if one is needed.
    """

    def __init__(
        self,
        info: dict,
        scenario: Scenario,
        size: Size,
        seed: int,
        out: pathlib.Path,
        server: str | None = None,
    ):
        self.info = info
        self.scenario = scenario
        self.size = size
        self.seed = seed
        self.out = out
        self.server = server
        self.kills = round(scenario.kills * size.kills)
        #: Names of the hosts that are dead at present.
        self.dead: set[str] = set()

    def run(self) -> outcome.Outcome:
        """:raises ReplayError: if it cannot begin, or the cloud goes away."""
        self.out.mkdir(parents=True)
        self.journal = Journal(self.out / "faults.log")
        slots = len(self.info["hosts"]) * self.info["slots"]
        trace = self.out / "jobs.swf"
        jobs.write(trace, self._chance("jobs"), self.size.jobs, slots, self.size.span)
        with contextlib.ExitStack() as stack:
            return self._run(stack)

    def _run(self, stack: contextlib.ExitStack) -> outcome.Outcome:
        queue = stack.enter_context(database(self.server)) if self.scenario.database else None
        gate = stack.enter_context(Gate(queue.host, queue.port)) if queue else None
        # The replay reaches everything directly, the manager through what makes trouble.
        url = queue.url() if queue else f"sqlite:///{self.out}/queue.sqlite"
        direct = configure(self.info, self.out, "replay.conf", {"database": {"connection": url}})
        conf = configuration.load(direct, "faults")
        store = stack.enter_context(contextlib.closing(open_store(conf)))

        supervisor = Supervisor("manager", [], self.out / "manager.log", self._restarted)
        killer = Killer(self._chance("kills"), self.kills, supervisor, self.journal)
        spoiler = Spoiler(self._chance("calls"), self.scenario.spoiled, self.journal)
        mishaps = [*self._mishaps(store), *self._restarts(gate, queue)]
        outages = [mishap for mishap in mishaps if isinstance(mishap, Outage)]
        proxied = functools.partial(self._proxy, stack)
        sections = {
            "nova": {"endpoint_override": proxied("compute", killer, spoiler), "timeout": TIMEOUT},
            "placement": {"endpoint_override": proxied("placement", killer, *outages)},
            "database": {"connection": queue.url(gate.port) if queue else url},
        }
        supervisor.argv = python(
            "nova_twotier.cmd.manager", *configure(self.info, self.out, "manager.conf", sections)
        )
        stack.enter_context(supervisor)
        troubles = stack.enter_context(Troubles([killer, *mishaps]))

        def watch() -> None:
            supervisor.check()
            troubles.check()

        done = self._replay(stack, conf, watch)
        if done["interrupted"] == "interrupted":
            raise KeyboardInterrupt
        return outcome.Outcome(
            self.scenario.name,
            done["totals"],
            dict(self.journal.counts),
            [
                *outcome.broken(done),
                *outcome.untried(self.scenario, self.kills, supervisor, spoiler, mishaps),
            ],
        )

    def _replay(self, stack: contextlib.ExitStack, conf, watch) -> dict:
        settings = Settings(
            trace=self.out / "jobs.swf",
            out=self.out,
            jobs=self.size.jobs,
            speedup=jobs.SPEEDUP,
            load_scale=1.0,
            seed=self.seed,
            timeout=self.size.timeout,
            name=self.scenario.name,
            retries=RETRIES,
            patience=PATIENCE if self.scenario.breaks_gangs else 0.0,
            lag=LAG,
        )
        log = stack.enter_context((self.out / "replay.log").open("w", buffering=1))
        return replay(conf, settings, Console(file=log, width=120), watch, self.dead)

    def _mishaps(self, store) -> list[Mishap]:
        nova = bootstrap.nova_client(handover.read(self.info))
        victims = Victims(store, nova, self._chance("victims"))
        scenario, journal = self.scenario, self.journal
        return [
            *(
                Outage(at, journal, "placement", self.size.outage)
                for at in self._instants("placement", scenario.placement_outages)
            ),
            *(
                HostDeath(at, journal, victims, nova, self.dead, self.size.death)
                for at in self._instants("host", scenario.host_deaths)
            ),
            *(
                ServerLoss(at, journal, victims, nova)
                for at in self._instants("server", scenario.server_losses)
            ),
        ]

    def _restarts(self, gate: Gate | None, queue: Database | None) -> list[Mishap]:
        return [
            DatabaseRestart(at, self.journal, gate, queue, DATABASE_AWAY)
            for at in self._instants("database", int(self.scenario.database))
        ]

    def _proxy(self, stack: contextlib.ExitStack, service: str, *interposers) -> str:
        """A proxy before a service; its URL."""
        target = self.info["urls"][service]
        return stack.enter_context(Proxy(service, target, interposers, HOLD)).url

    def _restarted(self, line: str) -> None:
        self.journal.write("manager restarted", line)

    def _chance(self, purpose: str) -> random.Random:
        """The same for the same seed, scenario and purpose, whatever else is drawn."""
        return random.Random(f"{self.seed}/{self.scenario.name}/{purpose}")  # noqa: S311

    def _instants(self, purpose: str, number: int) -> list[float]:
        chance = self._chance(f"instants of {purpose}")
        return [self.size.span * chance.uniform(*MIDDLE) for _ in range(number)]
