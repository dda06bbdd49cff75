"""What goes wrong in each of the runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    :param kills: of those that a run of its size has, the part that this one has, 0..1.
    :param spoiled: share of the requests to Nova that are spoiled, 0..1.
    """

    name: str
    about: str
    kills: float = 0.25
    spoiled: float = 0.0
    placement_outages: int = 0
    host_deaths: int = 0
    server_losses: int = 0
    database: bool = False

    @property
    def breaks_gangs(self) -> bool:
        """Whether gangs break without the manager's doing, or stay half preempted for a while."""
        return bool(self.spoiled or self.server_losses)


KILLS = Scenario("kills", "the manager is killed (-9) again and again", kills=1.0)
ALL = Scenario(
    "all",
    "all that the others have, in one run",
    spoiled=0.1,
    placement_outages=1,
    host_deaths=1,
    server_losses=2,
    database=True,
)
SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        KILLS,
        Scenario("nova", "a tenth of the requests to Nova fails, in several ways", spoiled=0.1),
        Scenario("placement", "Placement is down for some time", placement_outages=2),
        Scenario("host", "compute hosts die, and come back", host_deaths=2),
        Scenario("server", "servers are deleted behind the manager's back", server_losses=4),
        Scenario("database", "the database restarts", database=True),
        ALL,
    )
}
