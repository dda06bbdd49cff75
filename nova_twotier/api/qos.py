"""Checks that a job may have the class of service that it asks for."""

from nova_twotier.api import errors
from nova_twotier.api.auth import Caller
from nova_twotier.api.site import Site
from nova_twotier.core import policies
from nova_twotier.core.qos import NORMAL, SCAVENGER, URGENT, Qos
from nova_twotier.db import queue_policy

URGENT_RULE = "twotier:jobs:qos:urgent"


def check(
    site: Site, caller: Caller, wanted: str, pool: str, project_id: str, user_id: str
) -> None:
    """
    :param wanted: the class that a job of this pool and owner is to have.
    :raises Refused: if the site has no classes, the caller may not use this one, or the pool's
        policy has no background for scavengers.
    """
    if wanted == NORMAL:
        return
    if not site.conf.manager.qos_classes:
        raise errors.no_classes()
    if wanted == URGENT and not caller.may(URGENT_RULE, project_id, user_id):
        raise errors.not_urgent(URGENT_RULE)
    if wanted == SCAVENGER and (policy := _one_tier(site, pool)):
        raise errors.no_background(pool, policy)


def allowed(site: Site, caller: Caller, pool: str) -> list[str]:
    """The classes that jobs which the caller submits to a pool may have."""
    found = []
    for qos in Qos:
        try:
            check(site, caller, qos, pool, caller.project_id, caller.user_id)
        except errors.Refused:
            continue
        found.append(str(qos))
    return found


def _one_tier(site: Site, pool: str) -> str | None:
    """The pool's policy, if it has one tier only."""
    with site.store.reading() as session:
        chosen = queue_policy.chosen(session, pool)
    # What was chosen is in use after the manager's next poll. Without a choice, the manager may be
    # configured for another policy than the API.
    name = chosen or site.used_policy(pool) or site.conf.manager.policy
    known = policies.POLICIES.get(name)
    return name if known and known.tiers == 1 else None
