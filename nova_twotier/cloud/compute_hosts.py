"""Hosts of nova-compute, and their two names."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nova_twotier.ledger.shape import Shape

#: Seconds after which the names of all hosts are read again. They hardly ever change, and for its
#: list Nova looks up the service of each hypervisor: seconds of its time in a large cloud.
RENEWAL = 300.0
#: Most of the time for which Nova lists them because a nova-compute is up without a hypervisor,
#: which may stay so.
SHARE = 0.1


@dataclass(frozen=True, slots=True)
class ComputeHost:
    """
    :param shape: what the metadata of its aggregates says; None if they do not enable it for tiers.
    :param enabled: it takes new VMs.
    :param up: its nova-compute sends heartbeats.
    :param forced_down: an operator has forced it down, and so declared that no guest runs there.
    :param heard_at: when Nova got its last heartbeat, by the cloud's clock; None if it got none.
    :param disabled: somebody has disabled it.
    :param disabled_reason: why, as they said.
    :param service: the id of its nova-compute; empty if there is none.
    """

    shape: Shape | None
    enabled: bool
    up: bool = True
    forced_down: bool = False
    heard_at: float | None = None
    disabled: bool = False
    disabled_reason: str = ""
    service: str = ""


def takes_servers(service: Mapping[str, Any]) -> bool:
    """Whether a nova-compute, as Nova shows it, is up and takes new servers."""
    return service.get("state") == "up" and service["status"] == "enabled"


class HostNames:
    """Translates between the name of a nova-compute and that of its hypervisor.

    Aggregates, services and requests to move a server use the former, Placement and `Server.host`
    the latter. Both are the same for a host without a hypervisor in Nova's list.

    :param hypervisors: the name of each hypervisor, by that of its nova-compute.
    """

    def __init__(self, hypervisors: Mapping[str, str]):
        self._hypervisors = hypervisors
        self._services = {name: service for service, name in hypervisors.items()}

    def hypervisor(self, service: str) -> str:
        return self._hypervisors.get(service, service)

    def service(self, hypervisor: str) -> str:
        return self._services.get(hypervisor, hypervisor)

    def know(self, services: Iterable[str]) -> bool:
        """Whether each of these nova-computes has a hypervisor."""
        return self._hypervisors.keys() >= set(services)


class HostNameCache:
    """Caches the names of all hosts, and lists them anew for a new nova-compute or after a while.

    :param read: `Reader.host_names`.
    :param clock: seconds since any origin; cannot be set.
    """

    def __init__(self, read: Callable[[], HostNames], clock: Callable[[], float] = time.monotonic):
        self._read, self._clock = read, clock
        self.names = HostNames({})
        #: When they are listed anew in any case, and from when on for a new nova-compute.
        self._due_at: float | None = None
        self._again_at = 0.0

    def forget(self) -> None:
        """List them anew at the next call of `refresh`; until then they stay as they are."""
        self._due_at = None

    def refresh(self, services: Iterable[str]) -> HostNames:
        """Return the names, listed anew if that is due or one of `services` is not known.

        :param services: the nova-computes that are up. Each of them has a hypervisor, as a rule, or
            will have one some moments after it came up.
        """
        now = self._clock()
        due = self._due_at is None or now >= self._due_at
        if due or (now >= self._again_at and not self.names.know(services)):
            self.names = self._read()
            self._due_at = now + RENEWAL
            self._again_at = now + (self._clock() - now) / SHARE
        return self.names
