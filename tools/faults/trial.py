"""One run: jobs, managers, and the trouble that a scenario makes for them."""

import contextlib
import pathlib
import random
import time
from dataclasses import dataclass

from rich.console import Console

from nova_twotier import conf as configuration
from nova_twotier.db import terms
from nova_twotier.db.models import DEFAULT_POOL
from nova_twotier.db.store import Store, open_store
from nova_twotier.tools.fakecloud import bootstrap, handover
from nova_twotier.tools.faults import jobs, outcome
from nova_twotier.tools.faults.control import Control
from nova_twotier.tools.faults.databases import Database, database
from nova_twotier.tools.faults.fairness import Fairness
from nova_twotier.tools.faults.files import configure
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.killer import Killer
from nova_twotier.tools.faults.managers import Workshop
from nova_twotier.tools.faults.mishaps import Mishap, Outage
from nova_twotier.tools.faults.plan import ON_A_SERVER, Means
from nova_twotier.tools.faults.recovery import Recovery
from nova_twotier.tools.faults.scenarios import Scenario
from nova_twotier.tools.faults.site import Site
from nova_twotier.tools.faults.split import Manager
from nova_twotier.tools.faults.spoiler import Spoiler
from nova_twotier.tools.faults.tenants import HostileTenants, deaf_image, is_hostile
from nova_twotier.tools.faults.trouble import Troubles
from nova_twotier.tools.replay.player import Player
from nova_twotier.tools.replay.run import Settings, replay
from nova_twotier.tools.replay.workload import ReplayJob

#: How often a job may begin anew.
RETRIES = 20
#: Samples of the replay within which the manager sees that a gang is broken.
PATIENCE = 60
#: Seconds that a manager has to start.
START = 60.0
#: The part of the time over which jobs are submitted in which mishaps happen.
MIDDLE = (0.2, 0.8)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is.

    :param kills: of the manager.
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
    :param broker: the gate before the cloud's RabbitMQ, where there is one.
    """

    def __init__(
        self,
        info: dict,
        scenario: Scenario,
        size: Size,
        seed: int,
        out: pathlib.Path,
        server: str | None = None,
        broker: Gate | None = None,
    ):
        self.info = info
        self.scenario = scenario
        self.size = size
        self.seed = seed
        self.out = out
        self.server = server
        self.broker = broker

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
        on_a_server = ON_A_SERVER & self.scenario.mishaps.keys()
        queue = stack.enter_context(database(self.server)) if on_a_server else None
        # The replay reaches everything directly, the manager through what makes trouble.
        url = queue.url() if queue else f"sqlite:///{self.out}/queue.sqlite"
        direct = configure(self.info, self.out, "replay.conf", {"database": {"connection": url}})
        conf = configuration.load(direct, "faults")
        store = stack.enter_context(contextlib.closing(open_store(conf)))

        recovery = Recovery(store)
        site = self._site(store, recovery)
        managers, means = self._prepare(stack, site, queue, url)
        mishaps = [
            means.mishap(kind, at)
            for kind, times in self.scenario.mishaps.items()
            for at in self._instants(kind, times)
        ]
        killer = Killer(
            self._chance("kills"), self.size.kills, managers[0].supervisor, self.journal, recovery
        )
        spoiler = Spoiler(self._chance("calls"), self.scenario.spoiled, self.journal)
        for manager in managers:
            self._interpose(manager, killer, mishaps, spoiler)
            stack.enter_context(manager.supervisor)
        self._wait_for_leader(store)
        troubles = stack.enter_context(Troubles([killer, recovery, *mishaps]))
        hostile = next((m for m in mishaps if isinstance(m, HostileTenants)), None)
        fairness = Fairness(hostile.names if hostile else frozenset())

        def watch(player: Player) -> None:
            fairness.see(player)
            for manager in managers:
                manager.supervisor.check()
            troubles.check()

        done = self._replay(stack, conf, watch, site, hostile)
        if done["interrupted"] == "interrupted":
            raise KeyboardInterrupt
        result = outcome.Outcome.of(self.scenario, self.seed, done, recovery.seconds)
        result.counts = dict(self.journal.counts)
        result.stall = fairness.longest
        supervisors = [manager.supervisor for manager in managers]
        result.problems += [
            *outcome.wasteful(done, hostile.names if hostile else ()),
            *outcome.untried(self.scenario, self.size.kills, supervisors, spoiler, mishaps),
            *(problem for mishap in mishaps for problem in mishap.problems()),
            *(fairness.problems() if hostile else ()),
        ]
        return result

    @staticmethod
    def _wait_for_leader(store: Store) -> None:
        """Faults before a manager leads show nothing, and a slow machine starts late."""
        end = time.monotonic() + START
        while not terms.leader_of(store, DEFAULT_POOL) and time.monotonic() < end:
            time.sleep(0.1)

    def _site(self, store: Store, recovery: Recovery) -> Site:
        control = self.info["ports"].get("control")
        return Site(
            self.journal,
            recovery,
            store,
            bootstrap.nova_client(handover.read(self.info)),
            self._chance("victims"),
            tuple(self.info["hosts"]),
            Control(control) if control else None,
        )

    def _prepare(
        self, stack: contextlib.ExitStack, site: Site, queue: Database | None, url: str
    ) -> tuple[list[Manager], Means]:
        scenario = self.scenario
        workshop = Workshop(
            stack, self.info, self.out, queue, url, scenario.options, self._restarted
        )
        identity = workshop.identity() if self.broker else None
        offset = self.out / "clock"
        wrong = offset if "clock" in scenario.mishaps else None
        managers = [
            workshop.manager(number, scenario.managers > 1, identity, wrong)
            for number in range(scenario.managers)
        ]
        api = None
        if "clients" in scenario.mishaps:
            port, supervisor = workshop.api()
            stack.enter_context(supervisor)
            api = port, lambda: supervisor.pid
        doors = [self.broker, identity, *(manager.gate for manager in managers)]
        return managers, Means(
            info=self.info,
            site=site,
            outage=self.size.outage,
            death=self.size.death,
            managers=managers,
            queue=queue,
            doors=tuple(door for door in doors if door),
            offset=offset,
            api=api,
        )

    @staticmethod
    def _interpose(manager: Manager, killer: Killer, mishaps: list[Mishap], spoiler: Spoiler):
        outages = [mishap for mishap in mishaps if isinstance(mishap, Outage)]
        dark = [outage for outage in outages if outage.kind == "blackout"]
        manager.proxies["compute"].interposers = [killer, *dark, spoiler]
        manager.proxies["placement"].interposers = [killer, manager.ledger, *outages]

    def _replay(
        self, stack: contextlib.ExitStack, conf, watch, site: Site, hostile: HostileTenants | None
    ) -> dict:
        common = {"walltime": self.scenario.walltime}
        deaf = deaf_image(self.info["urls"]["image"]) if hostile else None

        def options(job: ReplayJob) -> dict:
            if hostile and is_hostile(job):
                hostile.names.add(job.name)
                return {**common, "image": deaf}
            return common

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
            patience=PATIENCE if self.scenario.breaks_gangs else 0,
            options=options,
        )
        log = stack.enter_context((self.out / "replay.log").open("w", buffering=1))
        return replay(conf, settings, Console(file=log, width=120), watch, site.harm)

    def _restarted(self, line: str) -> None:
        self.journal.write("process restarted", line)

    def _chance(self, purpose: str) -> random.Random:
        """The same for the same seed, scenario and purpose, whatever else is drawn."""
        return random.Random(f"{self.seed}/{self.scenario.name}/{purpose}")  # noqa: S311

    def _instants(self, purpose: str, number: int) -> list[float]:
        chance = self._chance(f"instants of {purpose}")
        return [self.size.span * chance.uniform(*MIDDLE) for _ in range(number)]
