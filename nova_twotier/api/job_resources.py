"""Refuses a job that asks for a flavor, image, network or key pair that its owner does not have.

Nova is asked in the name of the owner, by the job's trust, as it will be when the job starts. A job
is refused only if Nova itself says that something is missing: while Nova does not answer, jobs are
accepted, and the manager finds out when it starts them.
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

LOG = logging.getLogger(__name__)

#: What is missing, and what to do, by the kind of thing.
_MISSING = {
    "flavor": "flavor: there is no flavor {name!r} for you; `openstack flavor list` shows yours",
    "image": "image: there is no image {name} for you; `openstack image list` shows yours",
    "network": "networks: there is no network {name} for you; `openstack network list` shows yours",
    "key": "key_name: you have no key pair {name!r}; `openstack keypair list` shows yours",
}


def check(site: Site, caller: Caller, wanted: Mapping[str, Any], trust: str | None) -> None:
    """
    :param wanted: the arguments of `Store.submit`.
    :param trust: that of the job; None: its servers will be the manager's own.
    :raises Refused: if Nova says that something is missing.
    """
    things = [
        thing
        for kind, name in _named(wanted)
        if (thing := (caller.project_id, caller.user_id, kind, name)) not in site.known
    ]
    # Without Keystone, the API need not know Nova.
    if not things or site.known.silent or not (trust or site.conf.nova.auth_type):
        return
    try:
        missing = list(_missing(site, things, trust))
    except (CloudError, TrustError, Refused) as error:
        if isinstance(error, CloudError) and error.passing:
            site.known.did_not_answer()
        LOG.warning("A job was accepted without asking Nova for what it needs: %s", error)
        return
    if missing:
        raise invalid(*missing)


def _missing(site: Site, things: list[Thing], trust: str | None) -> Iterator[str]:
    session, options = site.nova()
    if trust:
        options = {**options, "auth": log_in(site.conf, session, trust)}
    resources = JobResources(session, **options)
    for thing in things:
        *_owner, kind, name = thing
        if resources.there(kind, name):
            site.known.add(thing)
        else:
            yield _MISSING[kind].format(name=name)


def _named(wanted: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and name of each thing that a job asks for."""
    for kind, field in (("flavor", "flavor"), ("image", "image"), ("key", "key_name")):
        if wanted.get(field):
            yield kind, wanted[field]
    networks = wanted.get("networks") or []
    if networks not in (["none"], ["auto"]):
        yield from (("network", network) for network in networks)
