"""Nova as the manager uses it: it reads through `Reader` and acts through python-novaclient."""

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keystoneauth1 import exceptions as ksa_exc
from novaclient import client as nova_client
from novaclient import exceptions as nova_exc
from novaclient.v2.client import Client
from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.cloud import boot_arguments, consoles, diagnostics, lost_requests, trusts
from nova_twotier.cloud.boot_errors import boot_refused, too_large
from nova_twotier.cloud.bootable import Bootable
from nova_twotier.cloud.compute_hosts import ComputeHost, HostNameCache, takes_servers
from nova_twotier.cloud.errors import (
    CloudError,
    GroupFull,
    NotYet,
    Undecided,
    UnfitFlavor,
    shortage,
    translated,
)
from nova_twotier.cloud.instance_actions import InstanceAction, action_of
from nova_twotier.cloud.job_groups import JobGroups
from nova_twotier.cloud.job_servers import JobServers, Own
from nova_twotier.cloud.listing import Lister
from nova_twotier.cloud.project_limits import ProjectLimits
from nova_twotier.cloud.reader import MICROVERSION, Reader
from nova_twotier.cloud.servers import NOTICE_KEY, Server, seconds
from nova_twotier.cloud.sessions import SILENT, session_for
from nova_twotier.conf import ConfigError
from nova_twotier.core.actions import Tier
from nova_twotier.core.flavors import own_cpus

if TYPE_CHECKING:
    # Its libraries need not be installed for callers that only read Nova.
    from nova_twotier.db.models import Array, Job

LOG = logging.getLogger(__name__)


class Cloud:
    """Nova as the manager needs it. Every method raises CloudError if Nova does not do it.

    A job with a trust is booted through it, so that its servers belong to its owner. The manager's
    own user, an administrator, does everything afterwards: it locks the servers against their
    owner. Without a trust they belong to the manager.

    :param conf: options with the groups `[nova]` and `[manager]`.
    :raises ConfigError: if they are incomplete.
    """

    def __init__(self, conf: cfg.ConfigOpts):
        for option in ("flavor", "image"):
            if not conf.manager[option]:
                raise ConfigError(f"option [manager]{option} is not set: jobs need one to boot")
        self._conf = conf
        self._session, self._options = session_for(conf, "nova")
        self._options["logger"] = SILENT
        self.nova = self._client()
        self._reader = Reader(self._session, **self._options)
        self._bootable = Bootable(self._reader, conf.manager)
        self._consoles = consoles.Consoles(self.nova)
        #: The id of requests that boot servers, by which the scheduler tells them from the tenants'
        #: own. It is for the ledger; no tenant can read it.
        self.boot_request = f"req-{uuid.uuid4()}"
        self._servers = JobServers(self._reader, self._own)
        self._groups = JobGroups(self.nova, self._reader, conf.manager)
        self._host_names = HostNameCache(self._reader.host_names)
        self._problems: frozenset[str] = frozenset()

    def begin(self, lister: Lister) -> None:
        """Begin a term: forget all servers and hosts, and which groups are the only ones of their
        jobs, since another manager may have acted on them since.

        Which job each server named is not forgotten.

        :param lister: lists all servers again and again for as long as it leads.
        """
        self._servers.begin(lister)
        self._groups.begin()
        self._host_names.forget()

    @translated
    def check(self) -> list[str]:
        """The extra specs by which the default flavor of jobs pins VMs to CPUs of their own.

        :raises ConfigError: if that flavor is not suitable for jobs.
        """
        try:
            return own_cpus(self._bootable.flavor(self._conf.manager.flavor)["extra_specs"])
        except UnfitFlavor as error:
            raise ConfigError(f"[manager]flavor: {error}") from None

    def remember(self, jobs: Mapping[str, str]) -> None:
        """Remember the uuid of the job of each server, by server id, whatever the metadata says."""
        self._servers.remember(jobs)

    @translated
    def servers(self) -> Sequence[Server]:
        """All servers of jobs, of all projects; the same object if none of them has changed.

        :raises CloudError: also if a cell is down: missing servers may still exist.
        """
        return self._servers.poll()

    def unmanaged(self, server: str) -> Server | None:
        """A server that named no job when `servers` was last called; None if there was none."""
        return self._servers.unmanaged(server)

    @translated
    def server(self, uuid: str) -> Server | None:
        """One server of any project; None only if Nova itself says that there is none.

        For servers that are missing from the list, which lacks those of cells that are down. If its
        cell is down, its status is UNKNOWN. Its job is empty if it never belonged to one.
        """
        return self._servers.show(uuid)

    @translated
    def instance_actions(self, server: Server) -> list[InstanceAction]:
        """What was done to a server, newest first, by Nova's record."""
        return [action_of(shown) for shown in self._reader.instance_actions(server.id)]

    @translated
    def booted_at(self, host: str) -> float | None:
        """When a host was last booted, by the name of its hypervisor; see `Reader.booted_at`."""
        return self._reader.booted_at(host)

    def _own(self) -> Own:
        """The project and the user of the manager; None if its token does not say."""
        return self._session.get_project_id(), self._session.get_user_id()

    @translated
    def hosts(self) -> dict[str, ComputeHost]:
        """All hosts of nova-compute, by the name that Placement has for them.

        That is the hypervisor's name, which may differ from that of the nova-compute. Hosts of
        aggregates with `twotier:slots` have a shape. Those with wrong metadata have none, with an
        error in the log that is not repeated while it stays the same.

        :raises CloudError: also if a cell is down: its hosts may be up.
        """
        services = self._reader.computes()
        if any(service.get("status") == "UNKNOWN" for service in services.values()):
            raise CloudError("a cell of Nova does not answer, so that its hosts are not known")
        names = self._host_names.refresh(
            host for host, service in services.items() if service.get("state") == "up"
        )
        computes = {names.hypervisor(host): service for host, service in services.items()}
        up = {host for host, service in computes.items() if service.get("state") == "up"}
        enabled = {host for host, service in computes.items() if takes_servers(service)}
        shapes, problems = self._reader.shapes(names)
        for problem in problems:
            if problem not in self._problems:
                LOG.error("%s", problem)
        self._problems = frozenset(problems)
        return {
            host: ComputeHost(
                shapes.get(host),
                host in enabled,
                host in up,
                forced_down=computes.get(host, {}).get("forced_down", False),
                heard_at=seconds(computes.get(host, {}).get("updated_at")),
                disabled=computes.get(host, {}).get("status") == "disabled",
                disabled_reason=computes.get(host, {}).get("disabled_reason") or "",
                service=computes.get(host, {}).get("id", ""),
            )
            for host in computes.keys() | shapes.keys()
        }

    @translated
    def disable(self, service: str, reason: str) -> None:
        """Let no new servers come to the host of a nova-compute, by its id."""
        self.nova.services.disable_log_reason(service, reason)

    @translated
    def enable(self, service: str) -> None:
        """Let new servers come to the host of a nova-compute again."""
        self.nova.services.enable(service)

    @translated
    def boot(
        self,
        job: "Job",
        user_data: str | None = None,
        near: str = "",
        max_mbps: int = 0,
        first: bool = False,
    ) -> None:
        """Boot all servers of a job in one request, in a server group if the job may have one.

        :param user_data: in base64.
        :param near: the hosts that they may come to, see `StartPlan`.
        :param max_mbps: Bmax by which it was decided; 0: without bandwidth.
        :param first: nobody has ever sent Nova a request for this job, so that it has no group yet.

        :raises Unfit: before anything is created, if its flavor asks for no slot, or its image lets
            guests take too long to shut down.
        :raises GroupFull: if that group may not have so many members; the next boot is without it.
        :raises BootRefused: if Nova refuses the request itself.
        """
        options = self._conf.manager
        self._bootable.check_image(job.image or options.image)
        flavor = self._bootable.flavor(job.flavor or options.flavor)
        nova = self._for_owner(job)
        group = self._groups.prepare(nova, job, first)
        wanted = boot_arguments.of(job, options, flavor["id"], user_data, group, near, max_mbps)
        try:
            nova.servers.create(**wanted)
        except nova_exc.ClientException as error:
            refused = boot_refused(error)
            if group and refused.group_is_full:
                self._groups.give_up(job, first)
                raise GroupFull(str(refused)) from None
            if refused.shortage:
                refused.reason = too_large(refused, self._limits(nova), job.size, flavor)
            # Not chained: what Nova said of user data must not get into a log.
            raise refused from None

    @staticmethod
    def _limits(nova: Client) -> ProjectLimits:
        """What a project may have, as whom the client acts; none are known if Nova does not say."""
        try:
            return ProjectLimits.of(nova.limits.get().to_dict())
        except (nova_exc.ClientException, ksa_exc.ClientException) as error:
            LOG.warning("Nova does not tell the limits of a project: %s", error)
            return ProjectLimits({})

    def _for_owner(self, job: "Job") -> Client:
        """A client that acts as the job's owner, by its trust; without one, as the manager.

        :raises trusts.TrustError: if Keystone does not accept the trust.
        """
        auth = trusts.log_in(self._conf, self._session, job.trust_id) if job.trust_id else None
        return self._client(auth=auth, global_request_id=self.boot_request)

    def _client(self, **more: Any) -> Client:
        """:param more: parameters of novaclient, which has a name of its own for the interface."""
        options = {"endpoint_type" if k == "interface" else k: v for k, v in self._options.items()}
        return nova_client.Client(MICROVERSION, session=self._session, **options, **more)

    @translated
    def limited_flavors(self) -> dict[str | None, tuple[Tier, ...]]:
        """The allowed tiers of the flavors that do not allow all, by name and by id.

        The key None stands for the default flavor of jobs.
        """
        return self._bootable.limited_flavors()

    @translated
    def delete_server_group(self, job: "Job") -> None:
        """Delete the server group of a job, with its duplicates."""
        self._groups.delete(job)

    @translated
    def delete_trust(self, job: "Job | Array") -> None:
        """Delete the trust of its owner; does nothing without one."""
        if job.trust_id:
            trusts.Trusts(self._session, self._conf.trust.roles).delete(job.trust_id)

    @translated
    def shelve(self, server: Server) -> None:
        self.nova.servers.shelve(server.id)

    @translated
    def unshelve(self, server: Server, host: str | None = None, again: bool = False) -> None:
        """Bring a server back to `host`, as in `hosts`, or to where the scheduler sends it.

        :param again: it was asked for before, and the server did not come back.
        :raises CloudError: also if it did not for quota: Nova counts it when it has found a host,
            and writes only into its record of actions that it was too much.
        """
        if again:
            self._require_quota(server)
        self.nova.servers.unshelve(server.id, host=host and self._host_names.names.service(host))

    def _require_quota(self, server: Server) -> None:
        action, _now = self._reader.latest_action(server.id, "unshelve")
        details = [each.get("details") or "" for each in (action or {}).get("events", ())]
        if said := next(filter(shortage, details), ""):
            raise CloudError(f"Nova did not unshelve server {server.id}: {said}", 403)

    @translated
    def suspend(self, server: Server) -> None:
        self.nova.servers.suspend(server.id)

    @translated
    def resume(self, server: Server) -> None:
        self.nova.servers.resume(server.id)

    @translated
    def confirm_resize(self, server: Server) -> None:
        """Confirm that a server stays as it was migrated or resized."""
        self.nova.servers.confirm_resize(server.id)

    @translated
    def unrescue(self, server: Server) -> None:
        """Boot a server from its own disk again."""
        self.nova.servers.unrescue(server.id)

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
    def set_metadata(self, server: Server, items: Mapping[str, str]) -> None:
        """Set items of a server's metadata; its others stay."""
        self.nova.servers.set_meta(server.id, dict(items))

    @translated
    def cpu_time(self, server: Server) -> tuple[float, int]:
        """CPU seconds that a server has used, and the number of its virtual CPUs."""
        _answer, shown = self.nova.servers.diagnostics(server.id)
        return diagnostics.cpu_time(shown)

    @translated
    def lock(self, server: Server, reason: str) -> None:
        self.nova.servers.lock(server.id, reason=reason)

    @translated
    def unlock(self, server: Server) -> None:
        self.nova.servers.unlock(server.id)

    @translated
    def live_migrate(self, server: Server, host: str | None) -> None:
        """Move a server to `host`, as in `hosts`, or to where the scheduler sends it."""
        service = host and self._host_names.names.service(host)
        self.nova.servers.live_migrate(server.id, service, "auto")

    @translated
    def force_migration(self, server: Server) -> None:
        """Force a live migration to complete now: libvirt pauses the guest or uses post-copy."""
        for migration in self.nova.server_migrations.list(server.id):
            if migration.status == "running":
                self.nova.server_migrations.live_migrate_force_complete(server.id, migration.id)

    @translated
    def start(self, server: Server) -> None:
        """Power on a server that is SHUTOFF; it boots from its disk."""
        self.nova.servers.start(server.id)

    @translated
    def stop(self, server: Server) -> None:
        """Power a server off that is ACTIVE, or only counts as such."""
        self.nova.servers.stop(server.id)

    @translated
    def reset_if_lost(self, server: Server, memory: bool = True) -> None:
        """Clear a server's task state if the request that set it was lost; else do nothing.

        It is ACTIVE then, even if its guest is off: Nova knows no other state to reset it to.

        :param memory: whether the saved memory of a suspended server counts; if not, a lost request
            to resume it is cleared, too.
        :raises Undecided: if it is not known yet whether the request was lost.
        """
        actions = lost_requests.RESETTABLE if memory else lost_requests.DISK_ONLY
        if lost_requests.is_lost(self._reader, server, actions):
            LOG.warning("Server %s was left %s by a request that was lost", server.id, server.task)
            self.nova.servers.reset_state(server.id, "active")

    @translated
    def delete_if_lost(self, server: Server) -> None:
        """Delete a saved server if the request to bring it back was lost; else do nothing.

        Nova itself cannot bring it back any more, whatever it is asked.

        :raises Undecided: if it is not known yet whether the request was lost.
        """
        if lost_requests.is_lost(self._reader, server, lost_requests.BRINGING_BACK):
            LOG.warning(
                "Server %s was left %s by a request that was lost, and cannot be brought back: it "
                "is deleted",
                server.id,
                server.task,
            )
            self.delete(server)

    @translated
    def require_lost(self, server: Server) -> None:
        """Require that the request to bring a saved server back was lost, so that it stays saved.

        :raises Undecided: if it was not lost, or if that is not known yet.
        """
        if not lost_requests.is_lost(self._reader, server, lost_requests.BRINGING_BACK):
            raise Undecided(f"server {server.id} is being brought back")

    @translated
    def console_log(self, server: Server, lines: int, timeout: float = consoles.PAUSE) -> str:
        """The last lines that a server's guest wrote to its serial console.

        :param timeout: seconds.
        :raises NotYet: if its host did not answer in time a moment ago.
        :raises CloudError: also if it has none, as while it is on no host.
        """
        return self._consoles.read(server, lines, timeout)

    def require_report(self, server: Server, report: str) -> None:
        """Make sure that a server's guest has written a text to its console.

        :raises NotYet: if it has not, or if the console cannot be read.
        """
        try:
            console = self.console_log(server, consoles.LINES, consoles.TIMEOUT)
        except CloudError as error:
            raise NotYet(f"the console of server {server.id} cannot be read: {error}") from error
        if report not in console:
            raise NotYet(f"server {server.id} has not reported: {report}")

    @translated
    def delete(self, server: Server) -> None:
        """Delete a server at once, unless it is gone already.

        Where Nova keeps deleted servers for a while (`reclaim_instance_interval`), a plain request
        would leave it what it holds of its host.
        """
        servers = self.nova.servers
        with contextlib.suppress(nova_exc.NotFound):
            # Without a host it holds nothing; forced, Nova would not notify of it.
            if server.host:
                try:
                    servers.force_delete(server.id)
                    return
                except nova_exc.Forbidden:
                    # Sites may have reserved that for nobody: a rule of its own says who may. The
                    # slots of jobs are freed all the same; a tenant's server would go in vain.
                    if not server.job:
                        raise
            servers.delete(server.id)
