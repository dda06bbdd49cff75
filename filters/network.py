"""The bandwidth of the network as Placement has it, read when a request first needs it."""

import json
from collections.abc import Mapping

from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.conf import scheduler as scheduler_conf
from nova_twotier.filters import placement
from nova_twotier.ledger import reading

CONF = cfg.CONF
scheduler_conf.register_opts(CONF)
LOG = logging.getLogger(__name__)


class Network:
    """Bmax of AdaBa and the free bandwidth of the links, for one request.

    :param max_mbps: Bmax in Mbit/s, where it need not be read.
    """

    __slots__ = ("_left", "_max_mbps")

    def __init__(self, max_mbps: float | None = None):
        self._max_mbps = max_mbps
        self._left: Mapping[str, int] | None = None

    @property
    def max_mbps(self) -> float:
        """The largest bandwidth that jobs ever asked for, of all pools; else the option's value."""
        if self._max_mbps is None:
            try:
                self._max_mbps = _largest(_read(reading.LARGEST_URL))
            except placement.Unreadable as error:
                # Only the order of the hosts depends on it.
                LOG.warning("[twotier]max_mbps counts: %s", error)
                self._max_mbps = CONF.twotier.max_mbps
        return self._max_mbps

    @property
    def left(self) -> Mapping[str, int]:
        """Free Mbit/s by the uuid of a link's provider; full links are missing.

        The same read says Bmax.

        :raises Unreadable: if Placement does not say.
        """
        if self._left is None:
            candidates = _read(reading.NETWORK_URL)
            self._left = reading.links_left(candidates)
            if self._max_mbps is None:
                self._max_mbps = _largest(candidates)
        return self._left


def _largest(candidates: Mapping) -> float:
    return reading.largest_mbps(candidates) or CONF.twotier.max_mbps


def _read(url: str) -> Mapping:
    return placement.read(url, json.loads)
