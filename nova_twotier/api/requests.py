"""Converts the body of a submission into the arguments of the database store."""

from collections.abc import Mapping, Sequence

from nova_twotier.api.errors import invalid
from nova_twotier.cloud import webhooks


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
    if "pool" in body and body["pool"] not in options.pools:
        raise invalid(f"pool: there is none of that name; there are {', '.join(options.pools)}")
    if "image" in given:
        given["image"] = given["image"].lower()
    if "networks" in given:
        given["networks"] = _networks(given["networks"])
    _check_webhook(given, job_events.allowed_webhooks)
    given["published"] = bool(job_events.transport_url)
    return given


def _check_webhook(given: Mapping, beginnings: Sequence[str]) -> None:
    if ("webhook" in given) != ("webhook_secret" in given):
        raise invalid("webhook: give webhook and webhook_secret together")
    if "webhook" not in given:
        return
    if not beginnings:
        raise invalid("webhook: the operator allows none, see [job_events]allowed_webhooks")
    if not webhooks.allowed(given["webhook"], beginnings):
        raise invalid(f"webhook: give a URL that begins with {' or '.join(beginnings)}")
    try:
        webhooks.check_key(given["webhook_secret"])
    except ValueError as error:
        raise invalid(f"webhook_secret: {error}") from None


def _networks(said: str | list[str]) -> list[str]:
    return [said] if isinstance(said, str) else [uuid.lower() for uuid in said]
