"""`GET /v1/utilisation`: used slots and queue length of pools over time."""

import time

from nova_twotier.api import utilisation_schemas, views
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.errors import invalid
from nova_twotier.api.validation import parse_seconds
from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.db import utilisation
from nova_twotier.db.utilisation import DAY, Interval, Window

#: Intervals of an answer, unless others are asked for: five minutes each of a day.
POINTS = 400


class Utilisation(Resource):
    @endpoint(
        "Show utilisation: slots used by tier, waiting jobs and lost work over time",
        rule="twotier:utilisation:show",
        query=utilisation_schemas.UTILISATION_QUERY,
        answers={200: utilisation_schemas.UTILISATION},
        conditional=True,
    )
    def on_get(self, request: Request):
        now = time.time()
        window, pools = _window(request.query, now), self._pools(request)
        with self.site.store.snapshot() as session:
            found = utilisation.read(session, pools, window)
            latest = utilisation.latest(session, found.pools, min(now, window.end))
        whole = utilisation.summary(found.intervals)
        return {
            "from": views.time(window.begin),
            "to": views.time(window.end),
            "interval": window.width,
            "pools": found.pools,
            "latest": latest and _shown(latest),
            "summary": whole and _shown(whole),
            "utilisation": [_shown(each) for each in found.intervals],
        }

    def revision(self, request: Request) -> object:
        """Samples come once a minute, and what happens to jobs does not change the answer."""
        now = time.time()
        window = _window(request.query, now)
        with self.site.store.reading() as session:
            return utilisation.state(session, self._pools(request), window, now)

    def _pools(self, request: Request) -> list[str]:
        pool = request.query.get("pool")
        return self.site.conf.manager.pools if pool is None else [pool]


def _window(query: dict, now: float) -> Window:
    """:raises Refused: if it is empty, or is given in two ways."""
    end = min(now, parse_seconds("to", query["to"])) if "to" in query else now
    if "from" in query:
        if "last" in query:
            raise invalid("last: give it, or from, not both")
        begin = parse_seconds("from", query["from"])
    else:
        begin = max(0.0, end - query.get("last", DAY))
    if not begin < end:
        raise invalid("from: give a time before to, and before now")
    return utilisation.window(begin, end, query.get("points", POINTS), now)


def _shown(interval: Interval) -> dict:
    means, peaks = interval.means, interval.peaks

    def tier(which: Tier) -> dict:
        used = means[f"{which}_used"]
        return {
            "slots": _rounded(means[f"{which}_slots"]),
            "open": _rounded(used + means[f"{which}_free"]),
            "used": _rounded(used),
            "most_used": peaks[f"{which}_used"],
        }

    def queue(what: str) -> dict:
        return {
            "waiting": _rounded(means[f"waiting_{what}"]),
            "most_waiting": peaks[f"waiting_{what}"],
            "running": _rounded(means[f"running_{what}"]),
        }

    return {
        "at": views.time(interval.at),
        "seconds": interval.seconds,
        "foreground": tier(FG),
        "background": tier(BG),
        "jobs": queue("jobs"),
        "processes": queue("processes"),
        "lost": _rounded(interval.lost),
    }


def _rounded(value: float) -> float:
    return round(value, 3)
