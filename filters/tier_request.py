"""Reads and checks the tier request: the flavor's extra specs and the scheduler hints.

Operators write the flavor: `twotier:tier` (fg or bg) is the tier of its VMs, `twotier:tiers` (fg,
bg or both, with a comma) lists the tiers that a hint or a job may choose, `twotier:jobs_only`
(true) refuses servers that belong to no job, and `twotier:mbps` is the bandwidth of a VM in Mbit/s.
Without `twotier:tiers` a job may choose any tier, but a hint only the flavor's own (default fg).

Tenants write the hints: `twotier:job` (uuid of a job in the ledger), `twotier:tier`,
`twotier:mbps`, and `twotier:bandwidth`, the guaranteed whole Mbit/s of a VM: only together with a
job that has reserved them. The queue manager adds `twotier:dispatch` to the boot of a job: the
numbers of its processes, the hottest first; with a bandwidth, `twotier:max_mbps`: Bmax of AdaBa,
whole Mbit/s, by which it was decided; and while maintenance is planned, `twotier:hosts`: `not:` or
`only:`, and what the uuids of the hosts' providers begin with.
"""

import re
import uuid
from dataclasses import dataclass
from typing import NoReturn

from nova_twotier.core.actions import Tier
from nova_twotier.core.flavors import (
    JOBS_ONLY,
    MBPS,
    MBPS_FORM,
    MBPS_WORDS,
    MOST_POINTS,
    TIER,
    TIERS,
    is_for_jobs_only,
    is_points,
    job_tiers,
    wrong_value,
)
from nova_twotier.ledger.names import CPU, SLOT
from nova_twotier.ledger.reading import Admission

RESOURCE = f"resources:{SLOT}"
#: The extra spec that declares the CPU utilisation of a flavor's VMs, in points.
POINTS = f"resources:{CPU}"
BANDWIDTH = "twotier:bandwidth"
DISPATCH = "twotier:dispatch"
HOSTS = "twotier:hosts"
MAX_MBPS = "twotier:max_mbps"
#: The hint and its value that Nova adds when it checks whether a server can be rebuilt on its host.
CHECK_TYPE, REBUILD = "_nova_check_type", ["rebuild"]

#: Most characters of a tenant's text that are repeated in a log.
_SHOWN = 60


class BadRequest(ValueError):
    """A request that no host can serve; the message says what is wrong and what is allowed."""


@dataclass(frozen=True, slots=True)
class TierRequest:
    """The tier and bandwidth that a request asks for.

    :param job: uuid of the job whose entry in the ledger names the tier, or None.
    :param tier: the tier without a job.
    :param mbps: bandwidth of the VM in Mbit/s.
    :param allowed: tiers that a job may have with this flavor.
    :param guaranteed: Mbit/s that the job's entry guarantees to each VM; 0 if none are requested.
    :param dispatch: numbers of the VMs in the order in which they get the best hosts; empty if that
        is the order of their numbers.
    :param hosts: what the uuids of the providers begin with on which a job may boot, or, if not
        `only`, may not.
    :param max_mbps: Bmax by which the queue manager decided, Mbit/s; 0 if the request does not say.
    """

    job: str | None
    tier: Tier
    mbps: float
    allowed: tuple[Tier, ...] = tuple(Tier)
    guaranteed: int = 0
    dispatch: tuple[int, ...] = ()
    hosts: frozenset[str] = frozenset()
    only: bool = False
    max_mbps: int = 0


def is_ours(spec) -> bool:
    """Whether a request asks for a slot or for bandwidth."""
    return RESOURCE in (spec.flavor.extra_specs or {}) or BANDWIDTH in _hints(spec)


def is_rebuild(spec) -> bool:
    """Whether Nova checks if a server can be rebuilt with another image on its present host.

    The hint alone is no proof: some releases of Nova also accept it from tenants (CVE-2026-46448).
    For a rebuild Nova also forces host and node, which a tenant may not.
    """
    return _claims_rebuild(_hints(spec)) and bool(spec.force_hosts and spec.force_nodes)


def read(spec) -> TierRequest:
    """The tier request of a two-tier request.

    :param spec: Nova's RequestSpec.
    :raises BadRequest: if a hint or an extra spec is wrong.
    """
    hints = _hints(spec)
    if _claims_rebuild(hints):
        raise BadRequest(f"Hint: {CHECK_TYPE} is for Nova's own use; leave it out")
    job = _hint(hints, "twotier:job")
    guaranteed = _guaranteed(_hint(hints, BANDWIDTH), job)
    extra_specs = spec.flavor.extra_specs or {}
    flavor = f"flavor {spec.flavor.name}"
    if extra_specs.get(RESOURCE) != "1":
        _refuse(flavor, RESOURCE, extra_specs.get(RESOURCE), "1: a VM takes one slot")
    points = extra_specs.get(POINTS, "1")
    if not is_points(points):
        _refuse(flavor, POINTS, points, f"1 to {MOST_POINTS}, percent of a slot")
    if wrong := wrong_value(extra_specs):
        _refuse(flavor, wrong[0], extra_specs[wrong[0]], wrong[1])
    own, allowed = _tiers(extra_specs)
    mbps = float(extra_specs.get(MBPS, "0"))
    if _jobs_only(extra_specs, flavor) and job is None:
        raise BadRequest(
            f"Flavor {spec.flavor.name} is for jobs of the queue manager only ({JOBS_ONLY}): "
            "submit a job with it (openstack twotier job create), or boot with another flavor"
        )
    if not hints:
        return TierRequest(None, own, mbps)
    tier = _hint(hints, TIER)
    if tier is not None and tier not in allowed:
        _refuse("hint", TIER, tier, f"{' or '.join(allowed)} with {flavor}")
    bandwidth = _hint(hints, MBPS)
    return TierRequest(
        None if job is None else _job(job),
        own if tier is None else Tier(tier),
        mbps if bandwidth is None else _mbps(bandwidth),
        job_tiers(extra_specs),
        guaranteed,
        _dispatch(_hint(hints, DISPATCH)),
        *_hosts(_hint(hints, HOSTS)),
        _max_mbps(_hint(hints, MAX_MBPS)),
    )


def check_job(wanted: TierRequest, entry: Admission | None, spec) -> Admission:
    """The entry of the request's job, checked.

    :param entry: the job's entry in the ledger; None without one.
    :param spec: Nova's RequestSpec.
    :raises BadRequest: if there is no such job, or another request boots it (the message does not
        say which of the two), or the flavor does not allow its tier.
    """
    if entry is None or not _may_name(entry, spec):
        raise unknown_job(wanted.job)
    if entry.tier not in wanted.allowed:
        allowed = f"a job in {' or '.join(wanted.allowed)} with flavor {spec.flavor.name}"
        _refuse("hint", "twotier:job", wanted.job, f"{allowed}; it is in {entry.tier}")
    return entry


def check_bandwidth(wanted: TierRequest, entry: Admission) -> None:
    """:raises BadRequest: if the job's reservation is not for VMs of that bandwidth."""
    most = entry.size // 2 * wanted.guaranteed
    for mbps in entry.links.values():
        if mbps > most or mbps % wanted.guaranteed:
            allowed = "the bandwidth that the queue manager has reserved for the VMs of the job"
            _refuse("hint", BANDWIDTH, wanted.guaranteed, allowed)


def _may_name(entry: Admission, spec) -> bool:
    """Whether the request may name the job: the queue manager's, or an administrator's.

    The manager boots VMs in the tenant's name, with no more rights than the tenant. Only the id of
    the request, which others cannot read, tells it from a boot by the tenant. Later requests about
    the VMs the manager makes as an administrator.
    """
    return spec._context.is_admin or (spec.project_id == entry.project and boots(entry, spec))


def boots(entry: Admission, spec) -> bool:
    """Whether the request boots all VMs of a job, rather than moving or restoring one later.

    The number of instances in the spec is no proof: Nova keeps that of the boot for later requests.
    """
    return spec._context.global_request_id == entry.user


def unknown_job(job: str | None) -> BadRequest:
    allowed = "the uuid of a job in the ledger, given by the queue manager"
    return BadRequest(_message("hint", "twotier:job", job, allowed))


def _tiers(extra_specs) -> tuple[Tier, tuple[Tier, ...]]:
    """The flavor's own tier, and those that a hint may choose from."""
    allowed = job_tiers(extra_specs)
    own = Tier(extra_specs.get(TIER, allowed[0]))
    return own, allowed if TIERS in extra_specs else (own,)


def _hints(spec):
    return (spec.scheduler_hints if "scheduler_hints" in spec else None) or {}


def _jobs_only(extra_specs, flavor: str) -> bool:
    try:
        return is_for_jobs_only(extra_specs)
    except ValueError:
        _refuse(flavor, JOBS_ONLY, extra_specs[JOBS_ONLY], "true or false")


def _claims_rebuild(hints) -> bool:
    return CHECK_TYPE in hints and hints[CHECK_TYPE] == REBUILD


def _guaranteed(value, job) -> int:
    """The guaranteed Mbit/s of a hint; only the queue manager can give it, after reserving them."""
    if value is None:
        return 0
    if job is None:
        raise BadRequest(
            f"Hint: {BANDWIDTH}={_shown(value)} asks for bandwidth that is not reserved; "
            "submit a job with a bandwidth to the queue manager, which reserves it and boots "
            "its VMs"
        )
    return _whole(BANDWIDTH, value)


def _max_mbps(value) -> int:
    return 0 if value is None else _whole(MAX_MBPS, value)


def _whole(name: str, value) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,9}", str(value)):
        _refuse("hint", name, value, "whole Mbit/s, 1 or more")
    return int(value)


def _dispatch(value) -> tuple[int, ...]:
    if value is None:
        return ()
    well_formed = re.fullmatch(r"[0-9]{1,6}(,[0-9]{1,6})*", str(value))
    dispatch = tuple(map(int, str(value).split(","))) if well_formed else (-1,)
    if sorted(dispatch) != list(range(len(dispatch))):
        _refuse("hint", DISPATCH, value, "each number from 0 on once, such as 1,0,2")
    return dispatch


def _hosts(value) -> tuple[frozenset[str], bool]:
    if value is None:
        return frozenset(), False
    if not re.fullmatch(r"(not|only):([0-9a-f-]{1,36}(,[0-9a-f-]{1,36})*)?", str(value)):
        _refuse("hint", HOSTS, value, "not: or only:, and beginnings of uuids with commas")
    kind, _colon, listed = str(value).partition(":")
    return frozenset(listed.split(",") if listed else ()), kind == "only"


def _hint(hints, name: str):
    """The single value of a hint; None without the hint."""
    if name not in hints:
        return None
    values = hints[name] if isinstance(hints[name], list) else [hints[name]]
    if len(values) != 1:
        _refuse("hint", name, values, "one value")
    if values[0] is None:
        _refuse("hint", name, None, "a value")
    return values[0]


def _job(value) -> str:
    """The uuid as Placement writes it, so that no text of a tenant becomes part of a URL."""
    try:
        return str(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise unknown_job(value) from None


def _mbps(value) -> float:
    if not re.fullmatch(MBPS_FORM, str(value)):
        _refuse("hint", MBPS, value, MBPS_WORDS)
    return float(value)


def _refuse(where: str, name: str, value, allowed: str) -> NoReturn:
    raise BadRequest(_message(where, name, value, allowed))


def _message(where: str, name: str, value, allowed: str) -> str:
    return f"{where[0].upper()}{where[1:]}: {name}={_shown(value)} is wrong; allowed: {allowed}"


def _shown(value) -> str:
    """The value as a literal, so that it cannot forge lines of a log."""
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
