"""The manager's hands and eyes in Nova, through python-novaclient."""

import functools
import re
import time
from dataclasses import dataclass

from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1 import loading
from novaclient import client as nova_client
from novaclient import exceptions as nova_exc

from nova_twotier.conf import ConfigError
from nova_twotier.ledger.placement import Placement, brief
from nova_twotier.ledger.tree import Shape
from nova_twotier.manager.fleet import Fleet

#: Live migration and unshelve to a host of which the scheduler's filters are asked, too.
MICROVERSION = "2.91"
#: Server metadata that carries the uuid of the job.
JOB_KEY = "twotier_job"


class CloudError(Exception):
    """Nova refused a request, or did not answer it; the message says which."""


@dataclass(frozen=True, slots=True)
class Server:
    """A VM of a job: process `index` of the job with this uuid."""

    id: str
    job: str
    index: int
    status: str
    task: str | None
    host: str | None
    fault: str = ""

    @property
    def busy(self) -> bool:
        """Nova is doing something with it."""
        return self.task is not None


@dataclass(frozen=True, slots=True)
class ComputeHost:
    """A host that an aggregate's metadata enables for tiers."""

    shape: Shape
    enabled: bool


def session_for(conf, group: str):
    """A keystoneauth session of a configuration group, with its adapter's options.

    :raises ConfigError: if the group does not say how to authenticate.
    """
    try:
        auth = loading.load_auth_from_conf_options(conf, group)
        session = loading.load_session_from_conf_options(conf, group, auth=auth)
    except ksa_exc.ClientException as error:
        raise ConfigError(f"configuration group [{group}]: {error}") from error
    if auth is None:
        raise ConfigError(f"configuration group [{group}] has no auth_type: say how to reach it")
    options = {
        "region_name": conf[group].region_name,
        "endpoint_override": conf[group].endpoint_override,
    }
    return session, {key: value for key, value in options.items() if value}


def placement_for(conf) -> Placement:
    """:raises ConfigError: if `[placement]` does not say how to authenticate."""
    session, options = session_for(conf, "placement")
    return Placement(session, **options)


def _translated(method):
    @functools.wraps(method)
    def call(*args, **kwargs):
        try:
            return method(*args, **kwargs)
        except nova_exc.ClientException as error:
            raise CloudError(f"Nova refused {method.__name__}: {error}") from error
        except (ksa_exc.ConnectionError, ksa_exc.EndpointNotFound) as error:
            raise CloudError(
                f"Nova does not answer ({brief(error)}); is the cloud up, and [nova] right?"
            ) from error
        except ksa_exc.ClientException as error:
            raise CloudError(f"Nova refused {method.__name__}: {error}") from error

    return call


class Cloud:
    """Nova as the manager needs it. Every method raises CloudError if Nova does not do it.

    :param conf: options with the groups `[nova]` and `[manager]`.
    :raises ConfigError: if they are not enough.
    """

    def __init__(self, conf):
        for option in ("flavor", "image"):
            if not conf.manager[option]:
                raise ConfigError(f"option [manager]{option} is not set: jobs need one to boot")
        self._conf = conf
        session, options = session_for(conf, "nova")
        self.nova = nova_client.Client(MICROVERSION, session=session, **options)
        self._fleet = Fleet(self.nova.servers.list)

    @_translated
    def check(self) -> None:
        """:raises ConfigError: if the flavor that jobs are to get does not exist."""
        try:
            _ = self._flavor
        except nova_exc.NotFound:
            name = self._conf.manager.flavor
            raise ConfigError(f"[manager]flavor is {name}, which Nova does not have") from None

    @_translated
    def servers(self) -> list[Server]:
        """All servers of jobs, of all projects."""
        found = self._fleet.look(time.time())
        return [_server(server) for server in found if JOB_KEY in server.metadata]

    @_translated
    def hosts(self) -> dict[str, ComputeHost]:
        """Hosts of aggregates with `twotier:slots`, by name."""
        up = {
            service.host
            for service in self.nova.services.list(binary="nova-compute")
            if service.status == "enabled" and service.state == "up"
        }
        return {
            host: ComputeHost(_shape(aggregate), host in up)
            for aggregate in self.nova.aggregates.list()
            if "twotier:slots" in aggregate.metadata
            for host in aggregate.hosts
        }

    @_translated
    def boot(self, job: str, name: str, size: int) -> None:
        """Boot all servers of a job at once, in a server group of their own."""
        self.nova.servers.create(
            name,
            self._conf.manager.image,
            self._flavor,
            min_count=size,
            max_count=size,
            nics=self._networks(),
            meta={JOB_KEY: job},
            scheduler_hints={"group": self._server_group(job), "twotier:job": job},
        )

    @functools.cached_property
    def _flavor(self):
        return self.nova.flavors.find(name=self._conf.manager.flavor, is_public=None)

    def _networks(self):
        network = self._conf.manager.network
        return network if network in ("none", "auto") else [{"net-id": network}]

    def _server_group(self, job: str) -> str:
        name = _group_name(job)
        for group in self.nova.server_groups.list():
            if group.name == name:
                return group.id
        return self.nova.server_groups.create(name, "soft-affinity").id

    @_translated
    def delete_server_group(self, job: str) -> None:
        for group in self.nova.server_groups.list():
            if group.name == _group_name(job):
                self.nova.server_groups.delete(group.id)

    @_translated
    def shelve(self, server: str) -> None:
        self.nova.servers.shelve(server)

    @_translated
    def unshelve(self, server: str) -> None:
        self.nova.servers.unshelve(server)

    @_translated
    def live_migrate(self, server: str, host: str | None) -> None:
        """Move a server to `host`, or to where the scheduler sends it."""
        self.nova.servers.live_migrate(server, host, "auto")

    @_translated
    def delete(self, server: str) -> None:
        try:
            self.nova.servers.delete(server)
        except nova_exc.NotFound:
            return


def _group_name(job: str) -> str:
    return f"twotier-{job}"


def _server(server) -> Server:
    # A multi-create of one keeps the name, of more appends -1, -2, ... in the order of placement.
    suffix = re.fullmatch(r"tt-\d+-(\d+)", server.name)
    return Server(
        id=server.id,
        job=server.metadata[JOB_KEY],
        index=int(suffix[1]) - 1 if suffix else 0,
        status=server.status,
        task=getattr(server, "OS-EXT-STS:task_state"),
        host=getattr(server, "OS-EXT-SRV-ATTR:host"),
        fault=getattr(server, "fault", {}).get("message", ""),
    )


def _shape(aggregate) -> Shape:
    try:
        slots = int(aggregate.metadata["twotier:slots"])
        tiers = int(aggregate.metadata.get("twotier:tiers", 2))
    except ValueError:
        slots = tiers = 0
    if slots < 1 or tiers < 1:
        raise CloudError(
            f"aggregate {aggregate.name}: twotier:slots and twotier:tiers must be whole numbers "
            f"of at least 1, not {aggregate.metadata}"
        )
    return Shape(slots, tiers)
