"""Reads the hosts' pools and their positions in the network from Nova's host aggregates."""

import contextlib
from collections.abc import Iterator
from typing import Any

from keystoneauth1.session import Session
from oslo_log import log as logging

from nova_twotier.api import errors
from nova_twotier.cloud.compute_hosts import takes_servers
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.reader import Reader
from nova_twotier.ledger.shape import Shape

LOG = logging.getLogger(__name__)


class Aggregates:
    """
    :param session: keystoneauth session of an administrator, with the adapter's options.
    """

    def __init__(self, session: Session, **options: Any):
        self._reader = Reader(session, **options)

    def shapes(self) -> dict[str, Shape]:
        """The hosts with `twotier:slots`, by their names in Placement.

        Hosts with wrong metadata are left out; the manager logs the errors.

        :raises Refused: if Nova does not answer.
        """
        with _translated():
            found, _problems = self._reader.shapes()
        return found

    def available(self) -> tuple[dict[str, Shape], set[str]]:
        """The same, and the names of those hosts that take new servers.

        :raises Refused: if Nova does not answer.
        """
        with _translated():
            names = self._reader.host_names()
            found, _problems = self._reader.shapes(names)
            computes = self._reader.computes() if found else {}
        up = {names.hypervisor(host) for host, each in computes.items() if takes_servers(each)}
        return found, found.keys() & up


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """:raises Refused: if Nova does not answer."""
    try:
        yield
    except CloudError as error:
        LOG.error("Could not read the host aggregates: %s", error)
        raise errors.unavailable("Nova") from None
