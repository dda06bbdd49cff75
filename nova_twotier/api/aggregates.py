"""What the host aggregates of Nova say of hosts: their pools, and their places in the network."""

from collections.abc import Iterator

from keystoneauth1 import exceptions as ksa_exc
from novaclient import client as nova_client
from novaclient import exceptions as nova_exc
from oslo_log import log as logging

from nova_twotier.api import errors
from nova_twotier.cloud import aggregates
from nova_twotier.cloud.nova import HYPERVISORS_MICROVERSION, SILENT
from nova_twotier.ledger.placement import brief
from nova_twotier.ledger.shape import Shape

LOG = logging.getLogger(__name__)


class Aggregates:
    """
    :param session: keystoneauth session of an administrator, with the adapter's options.
    """

    def __init__(self, session, **options):
        options = {**options, "logger": SILENT}
        self._nova = nova_client.Client(HYPERVISORS_MICROVERSION, session=session, **options)

    def shapes(self) -> dict[str, Shape]:
        """The hosts with `twotier:slots`, by the name that Placement has for them.

        Those of which the metadata says something wrong are left out: the manager logs what.

        :raises Refused: if Nova does not answer.
        """
        try:
            found, _problems = aggregates.shapes(self._nova.aggregates.list())
            names = dict(self._hypervisors()) if found else {}
        except (nova_exc.ClientException, ksa_exc.ClientException) as error:
            LOG.error("The host aggregates cannot be read: %s", brief(error))
            raise errors.unavailable("Nova") from None
        return {names.get(host, host): shape for host, shape in found.items()}

    def _hypervisors(self) -> Iterator[tuple[str, str]]:
        """The host of each nova-compute, and the name of its hypervisor."""
        marker = None
        while page := self._nova.hypervisors.list(marker=marker):
            for hypervisor in page:
                yield hypervisor.service["host"], hypervisor.hypervisor_hostname
            marker = page[-1].id
