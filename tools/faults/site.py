"""What mishaps work with: the cloud, the queue, and the records."""

import random
from dataclasses import dataclass, field

from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store
from nova_twotier.tools.faults.control import Control
from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.recovery import Recovery
from nova_twotier.tools.replay.guests import Harm

TASK, HOST = "OS-EXT-STS:task_state", "OS-EXT-SRV-ATTR:host"


@dataclass(frozen=True)
class Site:
    """
    :param nova: novaclient of the administrator.
    :param control: of the fake hosts; None where there is none.
    :param hosts: names of the hosts.
    """

    journal: Journal
    recovery: Recovery
    store: Store
    nova: object
    chance: random.Random
    hosts: tuple[str, ...] = ()
    control: Control | None = None
    harm: Harm = field(default_factory=Harm)

    def servers(self) -> list:
        """All servers, in one answer.

        Nova answers 500 for a page after a server that it is just assigning to a cell.
        """
        return self.nova.servers.list(search_opts={"all_tenants": 1})

    def victim(self):
        """A random server of a job that counts as running; None if there is none."""
        running = {job.uuid for job in self.store.jobs() if job.state == JobState.RUNNING}
        servers = [
            server
            for server in self.servers()
            if server.metadata.get(JOB_KEY) in running
            and server.status == "ACTIVE"
            and not getattr(server, TASK)
        ]
        return self.chance.choice(sorted(servers, key=lambda s: s.name)) if servers else None
