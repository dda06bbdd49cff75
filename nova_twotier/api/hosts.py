"""The resource of hosts: their slots, tiers and usage, from the ledger."""

import hashlib
import time
from collections.abc import Iterable, Mapping

from nova_twotier.api import cluster_schemas
from nova_twotier.api.cached import Cached
from nova_twotier.api.disclosure import Disclosure
from nova_twotier.api.endpoint import Request, Resource, endpoint, next_page, page_size
from nova_twotier.api.site import Site
from nova_twotier.api.views import time as shown_time
from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import offered
from nova_twotier.db import drains
from nova_twotier.db.models import Drain
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import NotFound, Placement
from nova_twotier.ledger.reading import CANDIDATES_URL, HostView, TierView, host_views

#: Seconds for which the hosts are kept: with many of them, Placement's answer is long.
FRESH = 5.0


class Hosts(Resource):
    def __init__(self, site: Site):
        super().__init__(site)
        self._views = Cached(self._read, FRESH)

    @endpoint(
        "List hosts",
        rule="twotier:hosts:list",
        query=cluster_schemas.HOSTS_QUERY,
        answers={200: cluster_schemas.HOSTS},
        conditional=True,
    )
    def on_get(self, request: Request):
        seen = Disclosure(request.caller)
        # `host drain --wait` polls without ETags, and must not be told what was true before.
        fresh = seen.names_hosts and not request.conditional
        views = read_hosts(self.site.placement) if fresh else self._views.get()[0]
        drained, now = self._drained(), time.time()
        # By what is shown: the order of the names would tell something of them.
        shown = sorted((seen.host(name), name) for name in views)
        if (marker := request.query.get("marker")) is not None:
            shown = [each for each in shown if each[0] > marker]
        paged = request.conditional or "limit" in request.query
        page = shown[: page_size(self.site, request)] if paged else shown
        rows = (row(name, views[name], drained.get(name), now) for _shown, name in page)
        return {
            "hosts": list(rows if seen.names_hosts else map(_anonymous, rows, page)),
            "links": next_page(
                request, "/v1/hosts", page[-1][0] if len(page) < len(shown) else None
            ),
        }

    def revision(self, request: Request) -> object:
        """Constant, since hosts come from Placement: `state` covers all that can change."""
        return None

    def viewpoint(self, request: Request) -> object:
        seen = Disclosure(request.caller)
        return seen.names_hosts or request.caller.project_id

    def state(self, request: Request) -> tuple[str, list]:
        now = time.time()
        drained = self._drained().values()
        return self._views.get()[1], [
            (each.host, each.since, each.until, each.reason, each.migrate, each.since > now)
            for each in drained
        ]

    def _drained(self) -> Mapping[str, Drain]:
        with self.site.store.reading() as session:
            return drains.present(session, time.time())

    def _read(self) -> tuple[dict[str, HostView], str]:
        """The hosts, and a hash that changes when they do."""
        views = read_hosts(self.site.placement)
        return views, hashlib.sha256(repr(views).encode()).hexdigest()


def _anonymous(host: dict, shown: tuple[str, str]) -> dict:
    """A host as it is shown to those who may not know which one it is.

    :param shown: what stands for its name, and the name.
    """
    tiers = {tier: {**host[tier], "cpu": None} for tier in ("foreground", "background")}
    drain = host["drain"] and {**host["drain"], "reason": ""}
    return {**host, "name": shown[0], **tiers, "drain": drain}


def read_hosts(placement: Placement) -> dict[str, HostView]:
    """Every host with providers of ours, by name.

    One request shows all hosts with a free slot; full hosts are read one by one.
    """
    providers = placement.get("/resource_providers")["resource_providers"]
    uuids = {provider["uuid"] for provider in providers}
    ours = roots(providers)
    if not ours:
        return {}  # before the first host, Placement does not know the resource class
    views = host_views(placement.get(CANDIDATES_URL))
    return {
        name: views.get(root) or _full(placement, root, uuids)
        for name, root in sorted(ours.items())
    }


def roots(providers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Uuids of the hosts with providers of ours, by name.

    :param providers: all providers, as Placement lists them.
    """
    by_uuid = {provider["uuid"]: provider["name"] for provider in providers}
    return {
        name: uuid for uuid, name in by_uuid.items() if names.child_uuid(uuid, Tier.FG) in by_uuid
    }


def _full(placement: Placement, root: str, providers: set[str]) -> HostView:
    children = [names.child_uuid(root, tier) for tier in Tier]
    fg, bg = (
        _tier(placement, child) if child in providers else TierView(child) for child in children
    )
    return HostView(*fg, *bg)


def _tier(placement: Placement, provider: str) -> TierView:
    try:
        found = amounts(placement, provider)
    except NotFound:
        return TierView(provider)  # deleted meanwhile
    return TierView(provider, *found.get(names.SLOT, (0, 0)), *found.get(names.CPU, (0, 0)))


def amounts(placement: Placement, provider: str) -> dict[str, tuple[int, int]]:
    """Capacity and usage of a provider by resource class.

    :raises NotFound: if there is no such provider.
    """
    inventories = placement.get(f"/resource_providers/{provider}/inventories")["inventories"]
    usages = placement.get(f"/resource_providers/{provider}/usages")["usages"]
    return {
        name: (offered(inventory["total"], inventory["reserved"]), usages.get(name, 0))
        for name, inventory in inventories.items()
    }


def row(name: str, view: HostView, drain: Drain | None = None, now: float = 0.0) -> dict:
    """A host as the API shows it.

    :param drain: whose window has not ended; None without one.
    :param now: in seconds since the epoch.
    """
    return {
        "name": name,
        "slots": view.slots,
        "tiers": view.tiers,
        "closed": view.closed,
        **tiers(view),
        "drain": drain and _drain_row(drain, view, now),
    }


def tiers(view: HostView) -> dict:
    """The usage of both tiers of a host, as the API shows it."""
    return {"foreground": _tier_row(view.fg), "background": _tier_row(view.bg)}


def _tier_row(view: TierView) -> dict:
    return {"places": view.capacity, "used": view.used, "cpu": view.load}


def _drain_row(drain: Drain, view: HostView, now: float) -> dict:
    if drain.since > now:
        state = "planned"
    else:
        state = "draining" if view.fg.used or view.bg.used else "drained"
    return {
        "state": state,
        "reason": drain.reason,
        "starts_at": shown_time(drain.since),
        "ends_at": shown_time(drain.until),
        "migrate": drain.migrate,
    }
