"""The client for Placement: JSON in, JSON out, and typed errors."""

import contextlib
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1.session import Session
from requests import Response

from nova_twotier.ledger import answers
from nova_twotier.ledger.names import MICROVERSION

#: What keystoneauth appends to an error; another one each time.
_REQUEST_ID = re.compile(r" ?\(Request-ID: [^)]*\)")


class PlacementError(Exception):
    """Placement refused a request; `status` is its HTTP status."""

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status

    @property
    def login(self) -> bool:
        """Whether the credentials of `[placement]` were refused, and so will be next time."""
        return self.status == HTTPStatus.UNAUTHORIZED


class PlacementUnavailable(PlacementError):
    """Placement did not answer."""


class NotFound(PlacementError):
    """404: Placement has no such provider, consumer or trait."""


class Conflict(PlacementError):
    """409: another client changed it meanwhile, or there is no room. Nothing was changed."""


class StaleGeneration(Conflict):
    """409 because the write was based on an old read: read again and repeat."""


class InUse(Conflict):
    """409 because consumers hold what was to be removed."""


class Answer(dict[str, Any]):
    """A JSON object from Placement; reading a missing field raises PlacementUnavailable.

    An answer without it is most likely from a proxy, not from Placement.

    :param request: method and URL.
    """

    def __init__(self, request: str, found: Mapping[str, Any] = MappingProxyType({})):
        super().__init__(found)
        self._request = request

    def __missing__(self, field: str) -> Any:
        raise _not_placements(self._request, field)


def _not_placements(request: str, field: str) -> PlacementUnavailable:
    """The error for an answer without a field, or with something else in its place."""
    return PlacementUnavailable(
        f"Placement answered {request} without {field}; is [placement] right, and no proxy in its "
        "place?"
    )


class Placement:
    """Requests to Placement through a keystoneauth session.

    :param session: keystoneauth session.
    :param options: adapter options, such as `auth`, `region_name` or `endpoint_override`.
    """

    def __init__(self, session: Session, **options: Any):
        self._adapter = adapter.Adapter(session, **{"service_type": "placement", **options})

    def get(self, url: str) -> dict:
        return self._request("GET", url)

    def put(self, url: str, body: dict | None = None) -> dict:
        return self._request("PUT", url, body)

    def post(self, url: str, body: dict) -> dict:
        return self._request("POST", url, body)

    def delete(self, url: str) -> dict:
        return self._request("DELETE", url)

    def _request(self, method: str, url: str, body: dict | None = None) -> dict:
        """:raises PlacementError: or one of its kinds, on any answer but 2xx."""
        try:
            answer = self._adapter.request(
                url,
                method,
                json=body,
                raise_exc=False,
                headers={"OpenStack-API-Version": f"placement {MICROVERSION}"},
            )
        except ksa_exc.Unauthorized as error:
            refused = login_refused("Keystone", "placement")
            raise PlacementUnavailable(refused, error.http_status) from error
        except ksa_exc.ClientException as error:
            raise PlacementUnavailable(
                f"Placement does not answer ({brief(error)}); "
                "is the cloud up, and [placement] right?"
            ) from error
        if not answer.ok:
            raise _error(answer, f"{method} {url}")
        if method != "GET" and not answer.content:
            return Answer(f"{method} {url}")
        lacks = "JSON"
        with contextlib.suppress(ValueError):
            if isinstance(found := answer.json(), dict):
                lacks = ", ".join(answers.misfits(found))
                if not lacks:
                    return Answer(f"{method} {url}", found)
        raise _not_placements(f"{method} {url}", lacks)


class FencedPlacement(Placement):
    """A client that asks for a permit before each write, so that a deposed leader cannot write.

    It asks again before each repetition of a write: generations do not stop a deposed leader that
    reads them anew.

    :param placement: makes the requests.
    :param permit: raises an error, passed on to the caller, if writing is not permitted.
    """

    def __init__(self, placement: Placement, permit: Callable[[], None]):
        self._placement = placement
        self._permit = permit

    def get(self, url: str) -> dict:
        return self._placement.get(url)

    def put(self, url: str, body: dict | None = None) -> dict:
        self._permit()
        return self._placement.put(url, body)

    def post(self, url: str, body: dict) -> dict:
        self._permit()
        return self._placement.post(url, body)

    def delete(self, url: str) -> dict:
        self._permit()
        return self._placement.delete(url)


def brief(error: Exception) -> str:
    """An error of keystoneauth without the chain of its causes and the id of the request."""
    return _REQUEST_ID.sub("", str(error).partition(": HTTP")[0])


def login_refused(service: str, section: str) -> str:
    """What an operator has to check after a service answered 401.

    :param section: the group of the configuration whose credentials were refused.
    """
    return (
        f"{service} refused the credentials of [{section}]: check username, password, "
        f"user_domain_name, project_name and project_domain_name in section [{section}] of the "
        "configuration, or the options of its auth_type"
    )


def _error(answer: Response, request: str) -> PlacementError:
    try:
        error: dict = dict(answer.json()["errors"][0])
    except (ValueError, LookupError, TypeError):
        error = {}  # it is a proxy's
    detail = " ".join(str(error.get("detail") or answer.text).split())
    if answer.status_code == HTTPStatus.UNAUTHORIZED:
        return PlacementError(login_refused("Placement", "placement"), answer.status_code)
    message = f"Placement refused {request}: {answer.status_code} {detail}"
    if answer.status_code == 404:
        return NotFound(message, 404)
    if answer.status_code == 409:
        return _CONFLICTS.get(error.get("code", ""), Conflict)(message, 409)
    return PlacementError(message, answer.status_code)


_CONFLICTS = {
    "placement.concurrent_update": StaleGeneration,
    "placement.inventory.inuse": InUse,
    "placement.resource_provider.inuse": InUse,
}
