"""The mishaps of a scenario: what each kind needs, and how long it lasts."""

import pathlib
from collections.abc import Callable
from dataclasses import dataclass

from nova_twotier.tools.fakecloud import bootstrap, handover
from nova_twotier.tools.faults.clients import SlowClients
from nova_twotier.tools.faults.clock import ClockJumps
from nova_twotier.tools.faults.databases import Database
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.hosts import Evacuation, PowerFailure, Silence
from nova_twotier.tools.faults.mishaps import (
    DatabaseRestart,
    HostDeath,
    Mishap,
    Outage,
    ServerLoss,
)
from nova_twotier.tools.faults.services import CellOutage, ConductorDeath, UploadFailure
from nova_twotier.tools.faults.site import Site
from nova_twotier.tools.faults.split import Manager, SplitBrain
from nova_twotier.tools.faults.tenants import TOKEN, HostileTenants

#: Seconds for which the database is away.
DATABASE_AWAY = 8.0
#: Seconds of a blackout: until Nova, in a cloud with a short service_down_time, reports all hosts
#: down, and the manager could believe it.
DARK = 35.0
#: Seconds for which a flapping host is silent, and is back: Nova reports it down after 12.
GONE, BACK, FLAPS = 16.0, 8.0, 3
#: Seconds of a reboot, which Nova does not notice.
REBOOT = 6.0
CELL_AWAY, NO_UPLOADS, WRONG_TIME, ALONE = 20.0, 25.0, 15.0, 8.0
#: Seconds by which the clock is wrong.
FAR = 7200
#: Seconds for which hostile tenants are active, and for which slow clients stay.
MISCHIEF, SLOW = 60.0, 30.0


@dataclass
class Means:
    """What mishaps are made with.

    :param info: content of the cloud's `cloud.json`.
    :param outage: seconds for which Placement is away; `death`: for which a host is.
    :param queue: the manager's database, where it is on a server; `doors`: the gates before it, and
        before what else is not HTTP.
    :param offset: file with the error of the manager's clock.
    :param api: port and process id of the REST API.
    """

    info: dict
    site: Site
    outage: float
    death: float
    managers: list[Manager]
    queue: Database | None
    doors: tuple[Gate, ...]
    offset: pathlib.Path
    api: tuple[int, Callable[[], int]] | None

    def mishap(self, kind: str, at: float) -> Mishap:
        return MAKERS[kind](self, at)

    @property
    def mallory(self):
        return bootstrap.nova_client(handover.read(self.info, TOKEN))


def _flapping(means: Means, at: float) -> Silence:
    hosts = sorted(means.site.hosts)
    chosen = means.site.chance.sample(hosts, max(1, len(hosts) // 4))
    groups = [(host,) for host in chosen] * FLAPS
    return Silence(at, means.site, "flapping host", groups, GONE, BACK)


def _clients(means: Means, at: float) -> SlowClients:
    port, pid = means.api
    return SlowClients(at, means.site, port, pid, SLOW)


MAKERS: dict[str, Callable[[Means, float], Mishap]] = {
    "placement": lambda m, at: Outage(at, m.site, "placement", m.outage),
    "blackout": lambda m, at: Outage(at, m.site, "blackout", DARK, m.doors),
    "host": lambda m, at: HostDeath(at, m.site, m.death),
    "server": lambda m, at: ServerLoss(at, m.site),
    "database": lambda m, at: DatabaseRestart(
        at, m.site, m.managers[0].gate, m.queue, DATABASE_AWAY
    ),
    "silence": lambda m, at: Silence(at, m.site, "silence", [m.site.hosts], DARK, 0.0),
    "flapping": _flapping,
    "reboot": lambda m, at: PowerFailure(at, m.site, "rebooting host", REBOOT),
    "power": lambda m, at: PowerFailure(at, m.site, "power", REBOOT, everywhere=True),
    "evacuation": lambda m, at: Evacuation(at, m.site, m.death),
    "uploads": lambda m, at: UploadFailure(at, m.site, NO_UPLOADS),
    "cell": lambda m, at: CellOutage(at, m.site, CELL_AWAY),
    "conductor": lambda m, at: ConductorDeath(at, m.site),
    "split": lambda m, at: SplitBrain(at, m.site, m.managers, m.queue, ALONE),
    "clock": lambda m, at: ClockJumps(at, m.site, m.offset, FAR, WRONG_TIME),
    "tenants": lambda m, at: HostileTenants(at, m.site, m.mallory, MISCHIEF),
    "clients": _clients,
}
#: Mishaps that need the queue on a database server.
ON_A_SERVER = {"database", "blackout", "split"}
