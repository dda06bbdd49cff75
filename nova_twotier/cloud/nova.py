"""The manager's hands and eyes in Nova, through python-novaclient."""

import base64
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1 import loading
from novaclient import client as nova_client
from novaclient import exceptions as nova_exc
from oslo_log import log as logging

from nova_twotier.cloud import aggregates, trusts
from nova_twotier.cloud.errors import CloudError, UnfitFlavor, translated
from nova_twotier.cloud.server_cache import ServerCache
from nova_twotier.conf import ConfigError
from nova_twotier.ledger.names import SLOT
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.tree import Shape

if TYPE_CHECKING:
    # Its libraries need not be there for those who only ask Nova.
    from nova_twotier.db.models import Job

LOG = logging.getLogger(__name__)
#: Of requests to Nova: servers have user data, which is to be in no log at any level.
SILENT = logging.getLogger(f"{__name__}.boot")
SILENT.setLevel(logging.INFO)

#: Live migration and unshelve to a host of which the scheduler's filters are asked, too.
MICROVERSION = "2.91"
#: Lists hypervisors without asking each nova-compute for its uptime, as 2.88 and later may.
HYPERVISORS_MICROVERSION = "2.87"
#: Server metadata that carries the uuid of the job.
JOB_KEY = "twotier_job"
#: Server metadata that tells a guest what is about to happen to it.
NOTICE_KEY = "twotier_notice"


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
    #: What its guest was told, see `Cloud.notice`.
    notice: str = ""
    locked: bool = False
    #: The project and the user whose it is; None: the manager's own.
    owner: tuple[str, str] | None = None

    @property
    def busy(self) -> bool:
        """Nova is doing something with it."""
        return self.task is not None


@dataclass(frozen=True, slots=True)
class ComputeHost:
    """A host that an aggregate's metadata enables for tiers."""

    shape: Shape
    enabled: bool
    up: bool = True


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


class Cloud:
    """Nova as the manager needs it. Every method raises CloudError if Nova does not do it.

    A job that came with a trust is booted by it, so that its servers are its owner's. All that
    happens to them afterwards is done by the manager's own user, an administrator: they are locked
    against their owner. Without a trust they are the manager's.

    :param conf: options with the groups `[nova]` and `[manager]`.
    :raises ConfigError: if they are not enough.
    """

    def __init__(self, conf):
        for option in ("flavor", "image"):
            if not conf.manager[option]:
                raise ConfigError(f"option [manager]{option} is not set: jobs need one to boot")
        self._conf = conf
        self._session, self._options = session_for(conf, "nova")
        self._options["logger"] = SILENT
        self.nova = nova_client.Client(MICROVERSION, session=self._session, **self._options)
        self._hypervisors = nova_client.Client(
            HYPERVISORS_MICROVERSION, session=self._session, **self._options
        ).hypervisors
        #: The id of requests that boot servers: by it the scheduler knows them from the tenants'
        #: own. For the ledger; no tenant can read it.
        self.boot_request = f"req-{uuid.uuid4()}"
        self._server_cache = ServerCache(self.nova.servers.list)
        #: The job that each server named.
        self._jobs: dict[str, str | None] = {}
        #: The host of nova-compute by its hypervisor's name.
        self._services: dict[str, str] = {}
        self._problems: frozenset[str] = frozenset()

    @translated
    def check(self) -> None:
        """:raises ConfigError: if the flavor that jobs get by default is none for them."""
        name = self._conf.manager.flavor
        try:
            self._flavor(name)
        except UnfitFlavor as error:
            raise ConfigError(f"[manager]flavor: {error.public_reason}") from None

    @translated
    def servers(self) -> list[Server]:
        """All servers of jobs, of all projects.

        :raises CloudError: also if a cell is down: what is missing then may be there.
        """
        found = self._server_cache.poll(time.time())
        if any(server.status == "UNKNOWN" for server in found):
            raise CloudError("a cell of Nova does not answer, so that its servers are not known")
        # As it was when it was first seen: until it is locked, its owner may write the metadata.
        self._jobs = {
            server.id: self._jobs.get(server.id, server.metadata.get(JOB_KEY)) for server in found
        }
        own = self._session.get_project_id(), self._session.get_user_id()
        return [
            _server(server, job, own)
            for server in found
            if (job := self._jobs[server.id]) is not None
        ]

    @translated
    def hosts(self) -> dict[str, ComputeHost]:
        """Hosts of aggregates with `twotier:slots`, by the name that Placement has for them.

        That is their hypervisor's, which may be another than that of their nova-compute. Hosts of
        which the metadata says something wrong are left out, with an error in the log that is not
        repeated while it stays so.
        """
        hypervisors = {
            hypervisor.service["host"]: hypervisor.hypervisor_hostname
            for hypervisor in self._hypervisors.list()
        }
        self._services = {name: host for host, name in hypervisors.items()}
        services = self.nova.services.list(binary="nova-compute")
        up = {service.host for service in services if service.state == "up"}
        enabled = {service.host for service in services if service.status == "enabled"}
        shapes, problems = aggregates.shapes(self.nova.aggregates.list())
        for problem in problems:
            if problem not in self._problems:
                LOG.error("%s", problem)
        self._problems = frozenset(problems)
        return {
            hypervisors.get(host, host): ComputeHost(shape, host in up & enabled, host in up)
            for host, shape in shapes.items()
        }

    @translated
    def boot(self, job: "Job", user_data: str | None = None) -> None:
        """Boot all servers of a job at once, in a server group of their own.

        :param user_data: in base64.

        :raises UnfitFlavor: before anything is made, if its flavor asks for no slot.
        """
        options = self._conf.manager
        flavor = self._flavor(job.flavor or options.flavor)
        nova = self._for_owner(job)
        nova.servers.create(
            f"tt-{job.number}",
            job.image or options.image,
            flavor,
            min_count=job.size,
            max_count=job.size,
            nics=_networks(job.networks or [options.network]),
            key_name=job.key_name,
            userdata=base64.b64decode(user_data) if user_data else None,
            meta={JOB_KEY: job.uuid},
            scheduler_hints={
                "group": _server_group(nova, job),
                "twotier:job": job.uuid,
                **({"twotier:bandwidth": str(job.mbps)} if job.mbps else {}),
            },
        )

    def _for_owner(self, job: "Job"):
        """Nova as the job's owner has it, by the job's trust; without one, as the manager has it.

        :raises trusts.TrustError: if Keystone does not take the trust.
        """
        auth = trusts.log_in(self._conf, self._session, job.trust_id) if job.trust_id else None
        return nova_client.Client(
            MICROVERSION,
            session=self._session,
            auth=auth,
            global_request_id=self.boot_request,
            **self._options,
        )

    def _flavor(self, name: str) -> str:
        """The id of a flavor by its name or id.

        :raises UnfitFlavor: if there is none, or it does not ask for one slot.
        """
        flavors = self.nova.flavors.list(is_public=None)
        found = next((each for each in flavors if name in (each.name, each.id)), None)
        if found is None:
            text = f"there is no flavor {name}; choose one of those that there are"
            raise UnfitFlavor(text, 404, text)
        wanted = f"resources:{SLOT}"
        if getattr(found, "extra_specs", {}).get(wanted) != "1":
            text = f"flavor {name} does not have {wanted}=1; choose one that has"
            raise UnfitFlavor(text, 400, text)
        return found.id

    @translated
    def delete_server_group(self, job: "Job") -> None:
        """Delete it, and its doubles: a request to make it may have been carried out very late."""
        offset, found = 0, []
        # Nova has no way to ask for one by its name, and lists so many at most at a time.
        while page := self.nova.server_groups.list(all_projects=True, offset=offset):
            found += [group.id for group in page if group.name == _group_name(job)]
            offset += len(page)
        for group in found:
            self.nova.server_groups.delete(group)

    @translated
    def delete_trust(self, job: "Job") -> None:
        """Give back what its owner has lent for the job; nothing happens without a trust."""
        if job.trust_id:
            trusts.Trusts(self._session, self._conf.trust.roles).delete(job.trust_id)

    @translated
    def shelve(self, server: Server) -> None:
        self.nova.servers.shelve(server.id)

    @translated
    def unshelve(self, server: Server, host: str | None = None) -> None:
        """Bring a server back to `host`, as in `hosts`, or to where the scheduler sends it."""
        self.nova.servers.unshelve(server.id, host=self._services.get(host, host))

    @translated
    def suspend(self, server: Server) -> None:
        self.nova.servers.suspend(server.id)

    @translated
    def resume(self, server: Server) -> None:
        self.nova.servers.resume(server.id)

    @translated
    def notice(self, server: Server, text: str | None) -> None:
        """Tell a server's guest, through its metadata, what is about to happen; None: nothing."""
        if text:
            self.nova.servers.set_meta(server.id, {NOTICE_KEY: text})
            return
        try:
            self.nova.servers.delete_meta(server.id, [NOTICE_KEY])
        except nova_exc.NotFound:
            return

    @translated
    def lock(self, server: Server, reason: str) -> None:
        self.nova.servers.lock(server.id, reason=reason)

    @translated
    def unlock(self, server: Server) -> None:
        self.nova.servers.unlock(server.id)

    @translated
    def live_migrate(self, server: Server, host: str | None) -> None:
        """Move a server to `host`, as in `hosts`, or to where the scheduler sends it."""
        self.nova.servers.live_migrate(server.id, self._services.get(host, host), "auto")

    @translated
    def delete(self, server: Server) -> None:
        try:
            self.nova.servers.delete(server.id)
        except nova_exc.NotFound:
            return


def _server_group(nova, job: "Job") -> str:
    name = _group_name(job)
    for group in nova.server_groups.list():
        if group.name == name:
            return group.id
    return nova.server_groups.create(name, "soft-affinity").id


def _group_name(job: "Job") -> str:
    return f"twotier-{job.uuid}"


def _networks(networks: list[str]) -> str | list[dict[str, str]]:
    """As novaclient takes them: `none` and `auto` stand alone."""
    if networks[0] in ("none", "auto"):
        return networks[0]
    return [{"net-id": network} for network in networks]


def _server(server, job: str, own: tuple[str | None, str | None]) -> Server:
    owner = server.tenant_id, server.user_id
    return Server(
        id=server.id,
        job=job,
        # Not by its name, which its owner may change however locked it is.
        index=getattr(server, "OS-EXT-SRV-ATTR:launch_index"),
        status=server.status,
        task=getattr(server, "OS-EXT-STS:task_state"),
        host=getattr(server, "OS-EXT-SRV-ATTR:hypervisor_hostname"),
        fault=getattr(server, "fault", {}).get("message", ""),
        notice=server.metadata.get(NOTICE_KEY, ""),
        locked=getattr(server, "locked", False),
        # A plain token does not say whose it is: a demonstration, where all are the manager's.
        owner=None if own in (owner, (None, None)) else owner,
    )
