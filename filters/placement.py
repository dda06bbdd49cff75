"""Reads Placement through Nova's own client of it."""

from collections.abc import Callable
from typing import TypeVar

from keystoneauth1 import exceptions as ksa_exc
from nova.scheduler.client import report

from nova_twotier.ledger.names import MICROVERSION

T = TypeVar("T")


class Unreadable(Exception):
    """Placement did not give an answer that the request needs."""


def read(url: str, parse: Callable[[str], T]) -> T:
    """What `parse` makes of an answer's text.

    :raises Unreadable: if there is no answer, or none that can be parsed.
    """
    try:
        answer = report.report_client_singleton().get(url, version=MICROVERSION)
    except ksa_exc.ClientException as error:
        raise Unreadable(f"Placement did not answer {url}: {error}") from error
    if not answer:
        raise Unreadable(f"Placement refused {url}: {answer.status_code} {answer.text}")
    try:
        return parse(answer.content.decode())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Unreadable(f"Placement's answer to {url} cannot be parsed: {error!r}") from error
