"""Refuses a job that asks for a flavor, image, network, key pair or quota that its owner lacks, or
for a flavor or an image that pins VMs to CPUs of their own.

Nova is asked in the name of the owner, by the job's trust, as it will be when the job starts. A job
is refused only if Nova itself says that something is missing or unfit, or that the project may not
have as much even without other servers; what these use of a quota is waited for. While Nova does
not answer, jobs are accepted, and the manager finds out when it starts them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from oslo_log import log as logging

from nova_twotier.api.auth import Caller
from nova_twotier.api.errors import Refused, invalid
from nova_twotier.api.known import Thing
from nova_twotier.api.site import Site
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.job_resources import JobResources
from nova_twotier.cloud.trusts import TrustError, log_in
from nova_twotier.db.models import DEFAULT_POOL

LOG = logging.getLogger(__name__)

#: HTTP statuses that say nothing of the job: no answer, refused credentials of `[nova]`, too many
#: requests, a proxy without Nova behind it. Another failure may be due to what this job asks for.
_SILENT = (0, 401, 429, 502, 503, 504)
#: What is missing, and what to do, by the kind of thing.
_MISSING = {
    "flavor": "flavor: there is no flavor {name!r} for you; `openstack flavor list` shows yours",
    "image": "image: there is no image {name} for you; `openstack image list` shows yours",
    "network": "networks: there is no network {name} for you; `openstack network list` shows yours",
    "key": "key_name: you have no key pair {name!r}; `openstack keypair list` shows yours",
}
#: What pins VMs to CPUs of their own, and what to do about it.
_PINNED = {
    "flavor": "flavor: VMs of {name!r} have CPUs of their own ({specs}), but in pool {pool} they "
    "share those of their slot; give another flavor, or ask an operator to take the extra spec "
    "away",
    "image": "image: VMs of {name} have CPUs of their own ({specs}), but in pool {pool} they share "
    "those of their slot; give another image, or take the property away: `openstack image unset`",
}


def check(site: Site, caller: Caller, wanted: Mapping[str, Any], trust: str | None) -> None:
    """
    :param wanted: the arguments of `Store.submit`.
    :param trust: that of the job; None: its servers will be the manager's own.
    :raises Refused: if Nova says that something is missing, or unfit for the pool.
    """
    pool = wanted.get("pool", DEFAULT_POOL)
    things = [
        thing
        for kind, name in _named(wanted)
        if (thing := (caller.project_id, caller.user_id, pool, kind, name)) not in site.known
    ]
    flavor = wanted.get("flavor") or site.conf.manager.flavor
    # Most jobs may have one process: they are not worth a question each.
    sized = wanted["size"] > 1 and not site.known.fits(caller.project_id, flavor, wanted["size"])
    # Without Keystone, the API need not know Nova.
    if not (things or sized) or site.known.silent or not (trust or site.conf.nova.auth_type):
        return
    try:
        resources = _resources(site, trust)
        mistakes = list(_mistakes(site, things, resources))
        excess = resources.excess(wanted["size"], flavor) if sized and not mistakes else None
    except (CloudError, TrustError, Refused) as error:
        if isinstance(error, CloudError) and error.status in _SILENT:
            site.known.did_not_answer()
        LOG.warning("A job was accepted without asking Nova for what it needs: %s", error)
        return
    if mistakes:
        raise invalid(*mistakes)
    if excess:
        raise Refused(
            403,
            "quota.exceeded",
            f"a job of {wanted['size']:,} processes could never start: it needs "
            f"{excess.needed:,} of Nova's quota {excess.resource}, of which your project may have "
            f"{excess.allowed:,}; submit a smaller one, or ask for a larger quota",
            used=0,
            allowed=excess.allowed,
        )
    if sized:
        site.known.add_fitting(caller.project_id, flavor, wanted["size"])


def _resources(site: Site, trust: str | None) -> JobResources:
    session, options = site.nova()
    if trust:
        options = {**options, "auth": log_in(site.conf, session, trust)}
    return JobResources(session, **options)


def _mistakes(site: Site, things: list[Thing], resources: JobResources) -> Iterator[str]:
    """What is missing, or unfit for the pool."""
    for thing in things:
        *_owner, pool, kind, name = thing
        if not resources.there(kind, name):
            yield _MISSING[kind].format(name=name)
        elif kind in _PINNED and (specs := _unfit(site, resources, kind, name, pool)):
            yield _PINNED[kind].format(name=name, specs=", ".join(specs), pool=pool)
        else:
            site.known.add(thing)


def _unfit(site: Site, resources: JobResources, kind: str, name: str, pool: str) -> list[str]:
    """The settings of a flavor or image that pin VMs to CPUs; none in a pool where all hosts have
    one tier, as they do no harm there."""
    # First, as most have nothing of it: then no other question is asked.
    specs = resources.own_cpus(kind, name)
    shapes = site.aggregates.shapes().values() if specs else ()
    return specs if any(shape.tiers > 1 for shape in shapes if shape.pool == pool) else []


def _named(wanted: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and name of each thing that a job asks for."""
    for kind, field in (("flavor", "flavor"), ("image", "image"), ("key", "key_name")):
        if wanted.get(field):
            yield kind, wanted[field]
    networks = wanted.get("networks") or []
    if networks not in (["none"], ["auto"]):
        yield from (("network", network) for network in networks)
