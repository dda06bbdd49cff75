"""`GET /v1/schedule`: which slots jobs held, and when waiting jobs are predicted to start."""

import re
import time
from collections.abc import Iterable, Mapping

from nova_twotier.api import schedule_schemas, views
from nova_twotier.api.disclosure import Disclosure
from nova_twotier.api.endpoint import Request, Resource, endpoint, next_page, page_size
from nova_twotier.api.errors import invalid
from nova_twotier.api.predictions import Shown, Told, tell
from nova_twotier.api.schedule_schemas import PREDICTED_PART, RECORDED
from nova_twotier.api.validation import parse_seconds
from nova_twotier.db import schedule
from nova_twotier.db.models import Job
from nova_twotier.db.schedule import Marker, Stay, Window
from nova_twotier.db.states import JobState

#: Seconds that are shown if nobody says since when: so many before a full hour.
HOUR, DAY = 3600, 86400
#: The longest window: 31 days, and time to read its pages.
LONGEST = 32 * DAY
#: Before the marker of a predicted stay.
PREDICTED = "p"
#: Largest id of a stay: a 32-bit integer in all databases.
MOST = 2**31 - 1
_DIGITS = re.compile("([0-9]+)")


class Schedule(Resource):
    @endpoint(
        "Show the schedule: which slots processes held, and when jobs are predicted to have some",
        rule="twotier:schedule:show",
        query=schedule_schemas.SCHEDULE_QUERY,
        answers={200: schedule_schemas.SCHEDULE},
        conditional=True,
    )
    def on_get(self, request: Request):
        query, size = request.query, page_size(self.site, request)
        window = _window(query)
        seen = Disclosure(request.caller)
        found, jobs, ends = self._page(window, query, size, seen)
        told = self._told([*(stay.job for stay in found), *jobs])
        expected = ((job, told[job.number].row) for job in jobs)
        # The window stays the same on all pages.
        query.setdefault("from", views.time(window.begin))
        return {
            "from": views.time(window.begin),
            "to": views.time(window.end),
            "stays": [_stay(stay, told[stay.job.number], seen) for stay in found],
            "predicted": [_predicted(job, row, seen) for job, row in expected if row],
            "links": next_page(request, "/v1/schedule", ends),
        }

    def _page(
        self, window: Window, query: Mapping[str, str], size: int, seen: Disclosure
    ) -> tuple[list[Stay], list[Job], str | None]:
        """A page of `size` entries, stays before waiting jobs, and its marker if more follow."""
        pool, marker, part = query.get("pool"), query.get("marker"), query.get("part")
        after = _parsed(marker) if marker else None
        changed = _seconds(query, "changed_since")
        stays: list[Stay] = []
        jobs: list[Job] = []
        ends: list[str] = []
        with self.site.store.reading() as session:
            if part != PREDICTED_PART and not (marker or "").startswith(PREDICTED):
                hosts = None
                if first := query.get("first_hosts"):
                    by_name = sorted(
                        schedule.hosts(session, window, pool),
                        key=lambda name: in_order(seen.host(name)),
                    )
                    hosts = by_name[: int(first)]
                stays = schedule.stays(session, window, pool, after, size + 1, changed, hosts)
                ends, after = [_written(stay.marker) for stay in stays], None
            if part != RECORDED and len(stays) <= size:
                left = size + 1 - len(stays)
                jobs, markers = schedule.starts(session, window, pool, after, left)
                ends += [PREDICTED + _written(each) for each in markers]
        more = len(ends) > size
        return stays[:size], jobs[: size - len(stays)], ends[size - 1] if more else None

    def state(self, request: Request) -> float:
        return _window(request.query).begin

    def viewpoint(self, request: Request) -> object:
        return Disclosure(request.caller).viewpoint

    def _told(self, jobs: Iterable[Job]) -> Mapping[int, Told]:
        """The predictions of these jobs, as far as readers may see them, by number."""
        each = {job.number: job for job in jobs}
        told = tell(self.site, list(each.values()))
        return dict(zip(each, told, strict=True))


def in_order(name: str) -> list[int | str]:
    """Sort key of host names in natural order: `node10` comes after `node9`."""
    # Every other part is one of digits.
    parts = enumerate(_DIGITS.split(name))
    return [int(part) if index % 2 else part for index, part in parts]


def _window(query: Mapping[str, str]) -> Window:
    """:raises Refused: if it is empty, or so long that a page could cost a look at all stays."""
    begin, end = _seconds(query, "from"), _seconds(query, "to")
    last = time.time() if end is None else min(end, time.time())
    if begin is None:
        # A full hour, so that the answer stays the same for a while.
        begin = max(0.0, last // HOUR * HOUR - DAY)
    if end is not None and end <= begin:
        raise invalid("to: give a time after from")
    if last - begin > LONGEST:
        raise invalid("from: give a time at most 31 days before to, which is now by default")
    return Window(begin, end)


def _seconds(query: Mapping[str, str], name: str) -> float | None:
    return parse_seconds(name, query[name]) if name in query else None


def _parsed(marker: str) -> Marker:
    """:raises Refused: if there can be no such marker."""
    at, _line, number = marker.removeprefix(PREDICTED).partition("_")
    if int(number) > MOST:
        raise invalid("marker: there is no such stay; start again from the first page")
    return Marker(float(at), int(number))


def _written(marker: Marker) -> str:
    # Digits enough to tell all times since 1987 from each other.
    return f"{marker.at:.7f}_{marker.number}"


def _stay(stay: Stay, told: Told, seen: Disclosure) -> dict:
    place, job = stay
    expected = told.row if place.until is None and job.state == JobState.RUNNING else None
    finish = _times("to", "finish", expected)
    return {
        "host": seen.host(place.host),
        "slot": place.slot,
        "tier": place.tier,
        "from": views.time(place.since),
        "to": views.time(place.until),
        **{f"predicted_{name}": at for name, at in finish.items()},
        "size": job.size,
        "pool": job.pool,
        "process": place.process if seen.shows(job) else None,
        "job": _job(job, seen),
    }


def _predicted(job: Job, row: Shown, seen: Disclosure) -> dict:
    return {
        **_times("from", "start", row),
        **_times("to", "finish", row),
        "predicted_at": views.time(row.made_at),
        "size": job.size,
        "pool": job.pool,
        "job": _job(job, seen),
    }


def _times(name: str, predicted: str, row: Shown | None) -> dict[str, str | None]:
    """A predicted time with its interval."""
    suffixes = "", "_low", "_high"
    return {
        f"{name}{each}": views.time(getattr(row, f"{predicted}{each}", None)) for each in suffixes
    }


def _job(job: Job, seen: Disclosure) -> dict | None:
    """The number, uuid, name and project of a job; None if the caller may not see them."""
    if not seen.shows(job):
        return None
    return {
        "number": job.number,
        "uuid": job.uuid,
        "name": job.name,
        "project_id": job.project_id,
        "array": views.in_array(job),
    }
