"""Hosts of nova-compute, and their two names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nova_twotier.ledger.shape import Shape


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
