"""Reads servers, migrations, hosts and flavors from Nova for an audit."""

from collections.abc import Mapping
from typing import Any

from keystoneauth1.session import Session

from nova_twotier.audit.listed import listed
from nova_twotier.audit.state import Migration, Vm
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.reader import Reader
from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.ledger.names import SLOT
from nova_twotier.ledger.shape import Shape

_JOB_HINT = "twotier:job"


class Nova:
    """Reads Nova across all projects. Every method raises CloudError if Nova does not answer.

    :param session: keystoneauth session of an administrator, with the adapter's options.
    """

    def __init__(self, session: Session, **options: Any):
        self._reader = Reader(session, **options)

    def vms(self) -> dict[str, Vm]:
        """All servers that ask for a slot or name a job, by uuid; not the soft-deleted ones.

        Also all servers of a cell that is down, because their flavors are unknown.
        """
        servers = map(vm_of, self._reader.servers(hints=True))
        return {vm.id: vm for vm in servers if vm.ours or vm.job or vm.unknown}

    def vm(self, uuid: str) -> Vm | None:
        """A server, even if soft-deleted; None if there is none."""
        server = self._reader.server(uuid, hints=True)
        return vm_of(server) if server else None

    def migrations(self, vm: str = "") -> dict[str, Migration]:
        """All migrations in Nova's records, or those of one server, by uuid."""
        return {
            record["uuid"]: Migration(record["uuid"], record["instance_uuid"], record["status"])
            for record in self._reader.migrations(vm)
        }

    def shapes(self) -> dict[str, Shape]:
        """The hosts of the aggregates with `twotier:slots`, by their hypervisors' names.

        :raises CloudError: also if their metadata has an error: hosts left out because of it would
            look like hosts that left.
        """
        found, problems = self._reader.shapes()
        if problems:
            raise CloudError(listed(problems, "; "))
        return found

    def metadata(self) -> dict[str, dict[str, set[str]]]:
        """The aggregate metadata of each two-tier host, by the name of its nova-compute.

        As Nova's filters read it: each key has a set of values, which commas separate.
        """
        found: dict[str, dict[str, set[str]]] = {}
        for aggregate in self._reader.aggregates():
            for host in aggregate["hosts"]:
                values = found.setdefault(host, {})
                for key, text in aggregate["metadata"].items():
                    values.setdefault(key, set()).update(each.strip() for each in text.split(","))
        return {host: values for host, values in found.items() if "twotier:slots" in values}

    def aggregates(self) -> dict[str, set[str]]:
        """The keys in the metadata of every aggregate, by name."""
        return {each["name"]: set(each["metadata"]) for each in self._reader.aggregates()}

    def flavors(self) -> dict[str, dict[str, str]]:
        """The extra specs of all flavors, by name."""
        return {flavor["name"]: flavor.get("extra_specs", {}) for flavor in self._reader.flavors()}

    def flavor_names(self) -> dict[str, str]:
        """The names of all flavors, by id."""
        return {flavor["id"]: flavor["name"] for flavor in self._reader.flavors()}


def vm_of(server: Mapping[str, Any]) -> Vm:
    """A server from its JSON. One in a cell that is down has little of it, and status UNKNOWN."""
    named = server.get("metadata", {}).get(JOB_KEY)
    hint = (server.get("scheduler_hints") or {}).get(_JOB_HINT)
    hint = hint[0] if isinstance(hint, list) and hint else hint
    hosts = (server.get(f"OS-EXT-SRV-ATTR:{key}") for key in ("host", "hypervisor_hostname"))
    # The scheduler accepts the hint from the manager only; tenants may write the metadata.
    job = hint if "scheduler_hints" in server else named
    return Vm(
        id=server["id"],
        status=server["status"],
        task=server.get("OS-EXT-STS:task_state"),
        hosts=frozenset(host for host in hosts if host),
        ours=f"resources:{SLOT}" in server.get("flavor", {}).get("extra_specs", {}),
        job=job,
        index=server.get("OS-EXT-SRV-ATTR:launch_index", 0) if job and named == job else None,
        project=server.get("tenant_id", ""),
        user=server.get("user_id", ""),
    )
