"""Converts the bodies of requests about a job into the arguments of the database store."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from nova_twotier.api.errors import invalid
from nova_twotier.api.job_request_schemas import MAX_RUN
from nova_twotier.api.validation import parse_time
from nova_twotier.cloud import webhooks

#: Seconds that a time may be past for a caller whose clock is slow.
CLOCK_SKEW = 60.0


def job(body: Mapping, options, job_events) -> dict:
    """The arguments of `Store.submit` from a valid body.

    :param options: group `[manager]`.
    :param job_events: group `[job_events]`.
    :raises Refused: for mistakes that a schema cannot describe.
    """
    given = {name: value for name, value in body.items() if value is not None}
    given["size"] = size = int(body["size"])
    cpu = given.get("cpu")
    # The store would apply a list of one value to all processes; the API does not.
    if isinstance(cpu, list) and len(cpu) != size:
        raise invalid(f"cpu: give {size} values, one for each process, or one number for all")
    values = cpu if isinstance(cpu, list) else [] if cpu is None else [cpu]
    given["cpu"] = [float(value) for value in values]
    given["retries"] = int(body.get("retries", options.retries))
    given["priority"] = int(body.get("priority", 0))
    if "pool" in body and body["pool"] not in options.pools:
        raise invalid(f"pool: there is none of that name, only {', '.join(options.pools)}")
    if "image" in given:
        given["image"] = given["image"].lower()
    if "networks" in given:
        given["networks"] = _networks(given["networks"])
    _check_webhook(given, job_events.allowed_webhooks)
    given["published"] = bool(job_events.transport_url)
    if "begin_at" in given:
        given["begin_at"] = _begin(given["begin_at"])
    return given


def change(body: Mapping) -> dict[str, Any]:
    """The new attributes of a job from a valid body; a null is one, too."""
    given = dict(body)
    if "priority" in given:
        given["priority"] = int(given["priority"])
    return given


def _check_webhook(given: Mapping, beginnings: Sequence[str]) -> None:
    if ("webhook" in given) != ("webhook_secret" in given):
        raise invalid("webhook: give webhook and webhook_secret together")
    if "webhook" not in given:
        return
    if not beginnings:
        raise invalid("webhook: the operator allows none")
    if not webhooks.allowed(given["webhook"], beginnings):
        raise invalid(f"webhook: give a URL that begins with {' or '.join(beginnings)}")
    try:
        webhooks.check_key(given["webhook_secret"])
    except ValueError as error:
        raise invalid(f"webhook_secret: {error}") from None


def _networks(said: str | list[str]) -> list[str]:
    return [said] if isinstance(said, str) else [uuid.lower() for uuid in said]


def _begin(said: str) -> float:
    begin, now = parse_time(said).timestamp(), time.time()
    if 0 <= begin < now - CLOCK_SKEW:
        shown = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
        raise invalid(
            f"begin_at: {said} is past, it is {shown.replace('+00:00', 'Z')} now; leave it out if "
            "the job may start at once"
        )
    # Times at either end of the calendar could not be shown in UTC.
    if not 0 <= begin <= now + MAX_RUN:
        raise invalid("begin_at: give a time within the next 30 years")
    return begin
