"""The scenarios: which faults are injected in each run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """
    :param kills: its share of the kills that scenario kills has, 0..1.
    :param spoiled: share of the requests to Nova that are spoiled, 0..1.
    :param mishaps: how often each kind of them happens, see `plan`.
    :param managers: how many queue managers there are; of several, one leads.
    :param cloud: options of the fake cloud.
    :param options: of the manager, group `[manager]`.
    :param walltime: of each job, in seconds; None: without.
    """

    name: str
    about: str
    kills: float = 0.25
    spoiled: float = 0.0
    mishaps: Mapping[str, int] = field(default_factory=dict)
    managers: int = 1
    cloud: Mapping = field(default_factory=dict)
    options: Mapping = field(default_factory=dict)
    walltime: float | None = None

    def without(self, *kinds: str) -> "Scenario":
        """The same, without mishaps of these kinds."""
        left = {kind: times for kind, times in self.mishaps.items() if kind not in kinds}
        return replace(self, mishaps=left)

    def kills_of(self, most: int) -> int:
        """Its kills, of those that the scenario with the most of them has."""
        return round(self.kills * most)

    @property
    def breaks_gangs(self) -> bool:
        """Whether gangs break without the manager's doing, or stay half preempted for a while."""
        return bool(self.spoiled or self.mishaps.keys() & GANG_BREAKERS)


#: Mishaps that strike some servers of a job and not others.
GANG_BREAKERS = {"server", "reboot", "power", "evacuation", "uploads", "tenants", "cell"}
#: A cloud that notices a silent host within seconds; heartbeats are frequent.
ALERT = {"report_interval": 2, "service_down_time": 12}
#: Without a background, every preempted job is shelved.
ONE_TIER, EVICTS = {"tiers": 1}, {"policy": "cmbf"}

KILLS = Scenario("kills", "the manager is killed (-9) again and again", kills=1.0)
ALL = Scenario(
    "all",
    "all faults of the above, in one run",
    spoiled=0.1,
    mishaps={"placement": 1, "host": 1, "server": 2, "database": 1},
    # Most jobs are larger, and so in no server group.
    options={"largest_server_group": 2},
)
SOAK = Scenario(
    "soak",
    "thousands of short jobs, one after the other, on a Nova that boots nothing",
    kills=0.0,
    cloud={"hosts": 16, "slots": 8},
)
SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        KILLS,
        Scenario("nova", "a tenth of the requests to Nova fails, in several ways", spoiled=0.1),
        Scenario("placement", "Placement is down for some time", mishaps={"placement": 2}),
        Scenario("host", "compute hosts die, and come back", mishaps={"host": 2}),
        Scenario("server", "servers are deleted behind the manager's back", mishaps={"server": 4}),
        Scenario("database", "the database restarts", mishaps={"database": 1}),
        ALL,
        Scenario(
            "blackout",
            "RabbitMQ, Keystone, Nova's API, Placement and the database go and come back together",
            kills=0.0,
            mishaps={"blackout": 2},
            cloud={"full": True, **ALERT},
            # A nova-compute takes up to half a minute to find the broker again, and Nova forgets
            # servers that it was booting.
            options={"host_down_grace": 60.0, "operation_timeout": 60.0},
        ),
        Scenario(
            "silence",
            "no host sends heartbeats for a while, though all guests run on",
            kills=0.0,
            mishaps={"silence": 1},
            cloud=ALERT,
        ),
        Scenario(
            "flapping",
            "the heartbeats of a quarter of the hosts stop and resume again and again",
            kills=0.0,
            mishaps={"flapping": 1},
            cloud=ALERT,
            options={"host_down_grace": 15.0},
        ),
        Scenario(
            "reboot",
            "hosts reboot before Nova misses them: their guests are off",
            kills=0.0,
            mishaps={"reboot": 2},
            cloud=ALERT,
        ),
        Scenario(
            "power",
            "all hosts reboot at once: all guests are off",
            kills=0.0,
            mishaps={"power": 1},
            cloud=ALERT,
        ),
        Scenario(
            "evacuation",
            "hosts die and an operator evacuates their servers, which are then off",
            kills=0.0,
            mishaps={"evacuation": 2},
            cloud=ALERT,
            options={"host_down_grace": 60.0},
        ),
        Scenario(
            "uploads",
            "no image can be stored for a while: preempted guests are off and not shelved",
            kills=0.0,
            mishaps={"uploads": 1},
            cloud=ONE_TIER,
            options=EVICTS,
        ),
        Scenario(
            "cell",
            "a cell of Nova does not answer for a while",
            kills=0.0,
            mishaps={"cell": 2},
            # Nova forgets the servers that it was booting or unshelving: they stay as they are.
            options={"operation_timeout": 60.0},
        ),
        Scenario(
            "conductor",
            "a nova-conductor dies while it makes the servers of a job",
            kills=0.0,
            mishaps={"conductor": 2},
            options={"operation_timeout": 60.0},
        ),
        Scenario(
            "pages",
            "Nova lists five items in an answer, so that all lists have several pages",
            cloud={"max_limit": 5},
        ),
        Scenario(
            "split",
            "a leader is stopped in mid-work, another one leads, the first goes on",
            kills=0.0,
            mishaps={"split": 1},
            managers=2,
        ),
        Scenario(
            "clock",
            "the manager's clock goes two hours wrong, both ways; jobs have a walltime of one",
            kills=0.0,
            mishaps={"clock": 1},
            walltime=3600.0,
        ),
        Scenario(
            "tenants",
            "owners of every fourth job make images of their servers, let them ignore ACPI, hold "
            "and release jobs",
            kills=0.0,
            mishaps={"tenants": 1},
            cloud=ONE_TIER,
            options=EVICTS,
        ),
        Scenario(
            "clients",
            "clients of the REST API never finish their requests",
            kills=0.0,
            mishaps={"clients": 1},
        ),
        SOAK,
    )
}
