"""Requests to the REST API on a keystoneauth session: pages, repeats, and what errors mean."""

import json
import logging
import re
import time
from collections.abc import Iterator
from http import HTTPStatus
from http.client import TOO_MANY_REQUESTS
from urllib.parse import parse_qsl, urlsplit

from keystoneauth1 import exceptions as ksa
from keystoneauth1.adapter import Adapter
from keystoneauth1.identity.base import BaseIdentityPlugin

LOG = logging.getLogger(__name__)

#: The API's service type in Keystone's catalog.
SERVICE_TYPE = "twotier"
#: The API version that every API has, so that this client works with earlier ones, too.
MICROVERSION = "1.0"

#: What the API says of a field that it does not know.
_UNKNOWN = re.compile(r"'(\w+)' is not known")
#: What keystoneauth's error says if there was no connection by which a request could be sent.
_UNSENT = (
    *("NewConnectionError", "NameResolutionError", "SSL"),
    *("No connection adapters", "Invalid URL", "Failed to parse"),
)
#: How often a request is repeated that was one too many for the rate limit of its project, and
#: the longest time to wait before, in seconds.
MOST_WAITS, LONGEST_WAIT = 20, 60.0

#: Seconds that the API may take for a request of another client.
FORWARDED_TIMEOUT = 60.0


class ApiError(Exception):
    """A request that was refused or not answered; the message is one line for people.

    :ivar status: the HTTP status, None if there was no answer.
    :ivar sent: whether the API may have got the request, if there was no answer.
    """

    def __init__(self, message: str, status: int | None = None, sent: bool = False):
        super().__init__(message)
        self.status, self.sent = status, sent

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.status in (None, 502, 503, 504)  # a proxy may send these, too


class UnknownField(ApiError):
    """The API does not know a field of a request: it is a mistake, or the API older than that.

    :ivar field: its name.
    """

    def __init__(self, message: str, field: str):
        super().__init__(message, HTTPStatus.BAD_REQUEST)
        self.field = field


class Connection:
    """Requests to the API. Every method raises ApiError if the API refuses or does not answer.

    :param session: a keystoneauth session with an authentication plugin.
    :param endpoint: URL of the API; None for that of the plugin or its catalog.
    :param options: further options of keystoneauth's Adapter, such as `region_name`.
    """

    def __init__(self, session, endpoint: str | None = None, **options):
        self._adapter = Adapter(
            session,
            service_type=SERVICE_TYPE,
            endpoint_override=endpoint,
            default_microversion=MICROVERSION,
            **options,
        )

    def identity(self) -> dict:
        """The `user` and the `project` of the session, each with its `id` and `name`.

        The user is None if the session does not know it, as with a token that Keystone did not
        issue. Both are None for a project of a token for the whole system.
        """
        auth = self._adapter.auth or self._adapter.session.auth
        if not isinstance(auth, BaseIdentityPlugin):
            project = self._ask("GET", "/v1/queue")["project_id"]
            return {"user": None, "project": {"id": project, "name": project}}
        access = auth.get_access(self._adapter.session)
        return {
            "user": {"id": access.user_id, "name": access.username},
            "project": {"id": access.project_id, "name": access.project_name},
        }

    def forward(self, method: str, path: str, headers: dict, body: bytes | None):
        """Forward a request of another client with the session's token; the answer, of any status.

        :param path: with its query.
        """
        options = {
            "headers": headers,
            "data": body,
            # The token is for this API only.
            "redirect": False,
            # The other client's headers say which.
            "microversion": None,
            "timeout": FORWARDED_TIMEOUT,
        }
        return self._request(path, method, options)

    def _submit(self, path: str, request: dict) -> dict:
        given = {name: value for name, value in request.items() if value is not None}
        try:
            return self._ask("POST", path, json=given)
        except ApiError as error:
            # A proxy's answers, too, if the API behind it took too long or went away.
            if error.sent or error.status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT):
                unknown = "it may have been submitted all the same; before you try again, look with"
                raise ApiError(
                    f"{unknown} openstack twotier job list: {error}", error.status
                ) from error
            raise

    def _pages(
        self, path: str, names: tuple[str, ...], limit: int | None, filters: dict
    ) -> Iterator[dict]:
        """The items of all pages, or the first `limit`.

        :param names: of the lists on a page, in their order.
        """
        query = written(filters)
        while limit is None or limit > 0:
            if limit is not None:
                query["limit"] = str(limit)
            page = self._ask("GET", path, params=query)
            items = [item for name in names for item in page[name]]
            yield from items
            following = [link["href"] for link in page["links"] if link["rel"] == "next"]
            if not following:
                return
            if limit is not None:
                limit -= len(items)
            # Use only the query: the link's address may differ from the one that reaches the API.
            # An empty value is a filter, too.
            query = dict(parse_qsl(urlsplit(following[0]).query, keep_blank_values=True))

    def _ask(self, method: str, path: str, **options) -> dict:
        _check_text([path, options.get("params"), options.get("json")])
        answer = self._request(path, method, options)
        for _attempt in range(MOST_WAITS):
            if answer.status_code != TOO_MANY_REQUESTS:
                break
            # The project has used up its rate: it takes turns with its other clients.
            seconds = _retry_after(answer)
            LOG.warning("The project's rate limit is reached: trying again in %g s", seconds)
            time.sleep(seconds)
            answer = self._request(path, method, options)
        try:
            body = answer.json()
        except ValueError:
            body = None
        if answer.ok and isinstance(body, dict):
            return body
        message = _message(answer, body)
        if answer.status_code == HTTPStatus.BAD_REQUEST and (unknown := _UNKNOWN.match(message)):
            raise UnknownField(message, unknown[1])
        raise ApiError(message, answer.status_code)

    def _request(self, path: str, method: str, options: dict):
        try:
            options = {**self._without_version(), **options}
            return self._adapter.request(path, method, raise_exc=False, **options)
        except ksa.EndpointNotFound as error:
            raise ApiError(
                f"the cloud's catalog has no service of type {SERVICE_TYPE}: "
                "ask your operator, or give --os-twotier-endpoint"
            ) from error
        except ksa.ConnectionError as error:
            said = f"{in_brief(error)}: is the twotier API up, and this its URL?"
            sent = not any(words in str(error) for words in _UNSENT)
            raise ApiError(said, sent=sent) from error
        except ksa.HttpServerError as error:
            # It gives the session a new token; what the API says is an answer.
            raise ApiError(f"Keystone gives no token: {error}", error.http_status) from error

    def _without_version(self) -> dict[str, str]:
        """Take `/v1` off the endpoint of the catalog, if it ends so: paths have it already."""
        endpoint = (self._adapter.get_endpoint() or "").rstrip("/")
        without = endpoint.removesuffix("/v1")
        return {} if without == endpoint else {"endpoint_override": without}


def _retry_after(answer) -> float:
    """Seconds until a request may be repeated that was one too many."""
    said = answer.headers.get("Retry-After", "")
    return min(float(said), LONGEST_WAIT) if said.isdigit() else 1.0


def written(query: dict) -> dict[str, str]:
    """Query parameters in the API's notation, without those that are None."""
    return {name: _word(value) for name, value in query.items() if value is not None}


def _word(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)


def _check_text(given) -> None:
    """:raises ApiError: if there is text that cannot be sent: the shell's may not be UTF-8."""
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise ApiError(f"give text in UTF-8: {wrong!r} is none") from error


def in_brief(error: Exception) -> str:
    """A connection error without the chain of its causes."""
    return " ".join(str(error).partition(": HTTP")[0].split())


def _message(answer, body) -> str:
    """The API's message in one line; with the request's id if the API itself failed."""
    try:
        details = [error["detail"] for error in body["errors"]]
        request = body["errors"][0]["request_id"]
    except (LookupError, TypeError):
        url = urlsplit(answer.url)
        if answer.status_code == HTTPStatus.GATEWAY_TIMEOUT:
            return f"{url.scheme}://{url.netloc} did not answer in time (HTTP 504): try again later"
        if answer.status_code in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE):
            # That of a proxy while the API behind it restarts, say.
            return (
                f"{url.scheme}://{url.netloc} got no answer from the twotier API behind it "
                f"(HTTP {answer.status_code}): try again later"
            )
        return (
            f"{url.scheme}://{url.netloc} answered HTTP {answer.status_code}, "
            "not as the twotier API does: is this its URL?"
        )
    trace = f", {request}" if answer.status_code == 500 else ""
    said = " ".join("; ".join(details).split())
    return f"{said} (HTTP {answer.status_code}{trace})"
