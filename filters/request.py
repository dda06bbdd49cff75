"""What the scheduler asks for, as far as it concerns tiers, and what Placement says about it.

Kept on Nova's `HostState` objects, which live for exactly one request; filter and weigher objects
are shared by threads and keep nothing.
"""

from dataclasses import dataclass

from keystoneauth1 import exceptions as ksa_exc
from nova.scheduler.client import report
from oslo_log import log as logging
from oslo_utils import uuidutils

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import reading
from nova_twotier.ledger.names import MICROVERSION, SLOT

LOG = logging.getLogger(__name__)

_ATTRIBUTE = "twotier"


class LedgerUnavailable(Exception):
    """Placement did not answer a read that a two-tier request depends on."""


@dataclass(slots=True)
class HostTiers:
    """The tiers of a host for one request. `view` is None if the host has no room or no tiers."""

    tier: Tier
    view: reading.HostView | None
    instances_before: int

    def placed(self, host_state) -> int:
        """VMs of this request that the scheduler has put on the host so far."""
        return host_state.num_instances - self.instances_before


def of(host_state) -> HostTiers | None:
    """What `attach` left on a host; None for requests that are not ours."""
    return getattr(host_state, _ATTRIBUTE, None)


def is_ours(spec) -> bool:
    return f"resources:{SLOT}" in (spec.flavor.extra_specs or {})


def attach(hosts: list, spec) -> bool:
    """Read the ledger once a request and leave every host its view.

    :returns: False if the request is invalid; why is in the log.
    :raises LedgerUnavailable: if Placement does not answer.
    """
    if of(hosts[0]) is not None:
        return True
    tier = _wanted(spec)
    if tier is None:
        return False
    views = reading.host_views(_get(reading.CANDIDATES_URL))
    for host in hosts:
        setattr(host, _ATTRIBUTE, HostTiers(tier, views.get(host.uuid), host.num_instances))
    return True


def _wanted(spec) -> Tier | None:
    """The job's entry in the ledger decides; else the flavor; else the foreground."""
    hints = spec.scheduler_hints if "scheduler_hints" in spec else None
    job = ((hints or {}).get("twotier:job") or [None])[0]
    if job is not None:
        # A tenant writes the hint: nothing but a uuid may become part of the URL.
        valid = uuidutils.is_uuid_like(job)
        tier = reading.wanted_tier(_get(f"/allocations/{job}")) if valid else None
        if tier is None:
            LOG.warning(
                "Hint twotier:job=%s names no job in the ledger: no host for %s",
                job,
                spec.instance_uuid,
            )
        return tier
    named = spec.flavor.extra_specs.get("twotier:tier", Tier.FG)
    try:
        return Tier(named)
    except ValueError:
        LOG.warning(
            "Flavor %s has twotier:tier=%s, which is neither fg nor bg: no host for %s",
            spec.flavor.name,
            named,
            spec.instance_uuid,
        )
        return None


def _get(url: str) -> dict:
    try:
        answer = report.report_client_singleton().get(url, version=MICROVERSION)
    except ksa_exc.ClientException as error:
        raise LedgerUnavailable(f"Placement did not answer {url}: {error}") from error
    if not answer:
        raise LedgerUnavailable(f"Placement refused {url}: {answer.status_code} {answer.text}")
    return answer.json()
