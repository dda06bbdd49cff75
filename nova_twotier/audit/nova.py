"""Servers and migrations as an audit needs them, from Nova's API by its JSON.

Not through novaclient: it does not know the microversion that shows scheduler hints.
"""

from collections.abc import Iterator
from types import SimpleNamespace

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ksa_exc

from nova_twotier.audit.state import Migration, Vm
from nova_twotier.cloud import aggregates
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import JOB_KEY, SILENT
from nova_twotier.ledger.names import SLOT
from nova_twotier.ledger.placement import brief
from nova_twotier.ledger.shape import Shape

#: The first that shows scheduler hints, and one that every supported Nova has.
HINTS, FALLBACK = "2.100", "2.91"
_JOB_HINT = "twotier:job"


class Nova:
    """Reads Nova's API, of all projects. Every method raises CloudError if Nova does not answer.

    :param session: keystoneauth session of an administrator, with the adapter's options.
    """

    def __init__(self, session, **options):
        options = {"service_type": "compute", "logger": SILENT, **options}
        self._adapter = adapter.Adapter(session, **options)
        self._microversion = HINTS

    def vms(self) -> dict[str, Vm]:
        """All servers that ask for a slot or name a job, by uuid; not the soft-deleted ones.

        And all of a cell that is down: nobody knows what those ask for.
        """
        servers = (vm_of(server) for server in self._pages("servers/detail", "all_tenants=1"))
        return {vm.id: vm for vm in servers if vm.ours or vm.job or vm.unknown}

    def vm(self, uuid: str) -> Vm | None:
        """One server, soft-deleted or not; None if there is none."""
        url = f"/servers/{uuid}"
        answer = self._answer(url)
        if answer.status_code == 404 and _says_not_found(answer):
            return None
        return vm_of(_decoded(answer, url)["server"])

    def migrations(self, vm: str | None = None) -> dict[str, Migration]:
        """All migrations that Nova has a record of, or those of a server, by uuid."""
        query = f"instance_uuid={vm}" if vm else ""
        return {
            record["uuid"]: Migration(record["uuid"], record["instance_uuid"], record["status"])
            for record in self._pages("os-migrations", query)
        }

    def shapes(self) -> dict[str, Shape]:
        """The hosts of the aggregates with `twotier:slots`, by their hypervisors' names.

        :raises CloudError: if their metadata says something wrong, too: whoever goes on without
            those hosts would take them for hosts that left.
        """
        listed = self._get("/os-aggregates")["aggregates"]
        found, problems = aggregates.shapes(SimpleNamespace(**each) for each in listed)
        if problems:
            raise CloudError("; ".join(problems))
        # Aggregates name the hosts of nova-compute, Placement their hypervisors.
        names = {
            hypervisor["service"]["host"]: hypervisor["hypervisor_hostname"]
            for hypervisor in self._pages("os-hypervisors/detail", "")
        }
        return {names.get(host, host): shape for host, shape in found.items()}

    def flavors(self) -> dict[str, dict[str, str]]:
        """The extra specs of all flavors, by name."""
        return {
            flavor["name"]: flavor.get("extra_specs", {})
            for flavor in self._pages("flavors/detail", "is_public=None")
        }

    def _pages(self, path: str, query: str) -> Iterator[dict]:
        # The collection is named as the path's first part, without the prefix of an extension.
        name = path.partition("/")[0].removeprefix("os-")
        marker = ""
        while True:
            page = self._get(f"/{path}?{query}{marker}")
            yield from page[name]
            if not any(link["rel"] == "next" for link in page.get(f"{name}_links", ())):
                return
            last = page[name][-1]
            marker = f"&marker={last['uuid'] if name == 'migrations' else last['id']}"

    def _get(self, url: str) -> dict:
        # A collection that is not found is no empty one: whoever answered is not Nova.
        return _decoded(self._answer(url), url)

    def _answer(self, url: str):
        """:raises CloudError: if Nova does not answer."""
        try:
            answer = self._request(url)
            if answer.status_code == 406 and self._microversion == HINTS:
                self._microversion = FALLBACK
                answer = self._request(url)
        except ksa_exc.ClientException as error:
            raise CloudError(
                f"Nova does not answer ({brief(error)}); is the cloud up, and [nova] right?"
            ) from error
        return answer

    def _request(self, url: str):
        return self._adapter.get(
            url,
            raise_exc=False,
            headers={"OpenStack-API-Version": f"compute {self._microversion}"},
        )


def _decoded(answer, url: str) -> dict:
    """:raises CloudError: if Nova refused, or it is not Nova that answered."""
    if not answer.ok:
        text = " ".join(answer.text.split())
        raise CloudError(f"Nova refused GET {url}: {answer.status_code} {text}; is [nova] right?")
    return answer.json()


def _says_not_found(answer) -> bool:
    """Whether a 404 is Nova's own, and not that of what stands before it."""
    try:
        return "itemNotFound" in answer.json()
    except (ValueError, TypeError):
        return False


def vm_of(server: dict) -> Vm:
    """A server from its JSON. One in a cell that is down has little of it, and status UNKNOWN."""
    named = server.get("metadata", {}).get(JOB_KEY)
    hint = (server.get("scheduler_hints") or {}).get(_JOB_HINT)
    hint = hint[0] if isinstance(hint, list) and hint else hint
    hosts = (server.get(f"OS-EXT-SRV-ATTR:{key}") for key in ("host", "hypervisor_hostname"))
    # The scheduler takes the hint of none but the manager; the metadata is for tenants to write.
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
