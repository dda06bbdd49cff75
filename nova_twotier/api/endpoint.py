"""Turns a method of a resource into a falcon responder with a description for OpenAPI."""

import functools
import http
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import falcon
from falcon.media import JSONHandler

from nova_twotier.api import etags, validation
from nova_twotier.api.auth import Caller
from nova_twotier.api.finding import find_array, find_job
from nova_twotier.api.site import Site
from nova_twotier.api.versions import CONDITIONAL, at_least
from nova_twotier.db.event import User
from nova_twotier.db.models import Array, Job
from nova_twotier.db.store import Store

#: HTTP statuses of refusals that every request may get.
ALWAYS = (400, 406, 500, 503)
IDENTIFIED = (401, 403, 429)
_JSON = JSONHandler()


@dataclass(frozen=True)
class Endpoint:
    """The description of a method, for the OpenAPI document and for the tests.

    :param rule: the oslo.policy rule; None for public methods, which need no token.
    :param answers: the schema of each success status.
    :param refusals: the method's own HTTP statuses of refusals.
    :param conditional: whether answers have an ETag, and unchanged ones are not sent again.
    """

    summary: str
    rule: str | None
    answers: Mapping[int, dict]
    query: Mapping[str, dict] = field(default_factory=dict)
    body: dict | None = None
    refusals: tuple[int, ...] = ()
    conditional: bool = False

    @property
    def statuses(self) -> list[int]:
        """HTTP statuses of all possible refusals."""
        found = {*ALWAYS, *self.refusals, *(IDENTIFIED if self.rule else ())}
        return sorted(found | ({413, 415} if self.body else set()))


@dataclass
class Request:
    """An authorized and valid request: its caller, query and body."""

    req: object
    caller: Caller | None
    query: dict
    body: dict | None = None

    def href(self, path: str) -> str:
        """The URL of a path of this API, as the caller reaches it."""
        return f"{self.req.prefix}{path}"

    @property
    def conditional(self) -> bool:
        """Whether the microversion has ETags; answers must not depend on the time then."""
        return at_least(self.req.context.version, CONDITIONAL)


@dataclass
class Reply:
    """An answer with another status or more than a body."""

    body: dict
    status: int
    headers: dict[str, str] = field(default_factory=dict)


class Resource:
    """A noun of the API; its methods are made with `endpoint`."""

    def __init__(self, site: Site):
        self.site = site

    def store_for(self, request: Request) -> Store:
        """The store for a request that changes something: events it records name the caller."""
        caller = request.caller
        return self.site.store.acting_for(User(caller.user_id, caller.project_id))

    def revision(self, request: Request) -> object:
        """A value that differs whenever the database may give another answer to the request."""
        return etags.revision(self.site)

    def state(self, request: Request) -> object:
        """What the ETag depends on besides the database, the caller and the query."""
        return None

    def viewpoint(self, request: Request) -> object:
        """The properties of the caller that an answer depends on; equal ones share answers.

        By default all that the caller is.
        """
        return request.caller.identity


def endpoint(summary: str, **description) -> Callable:
    """Turn `method(self, request, **path)` into a responder, which gets the path's job or array.

    It checks in this order: authentication, rate limit, visibility of the job, authorization,
    validity of query and body.
    """
    described = Endpoint(summary, **description)
    query = validation.validator(validation.query_schema(described.query))
    body = validation.validator(described.body) if described.body else None

    def decorate(method):
        @functools.wraps(method)
        def respond(resource, req, resp, uuid=None, array=None):
            request = Request(req, None, {})
            subject = ()
            if described.rule:
                subject = _authorize(request, resource.site, described.rule, uuid, array)
            request.query = validation.read_query(req.query_string, query)
            if body:
                request.body = validation.read_body(req, body)
            success = next(iter(described.answers))
            if described.conditional and request.conditional:
                make = functools.partial(method, resource, request)
                _answer_if_changed(resource, request, resp, success, make)
                return
            answer = method(resource, request, *subject)
            if not isinstance(answer, Reply):
                answer = Reply(answer, success)
            resp.media, resp.status = answer.body, answer.status
            resp.set_headers(answer.headers)

        respond.endpoint = described
        return respond

    return decorate


def _authorize(
    request: Request, site: Site, rule: str, job: str | None, array: str | None
) -> tuple[Job | Array, ...]:
    """Check that the caller may do this; returns the job or the array that the path names, if any.

    :raises Refused: if the caller is not known, asks too often, or may not do this.
    """
    request.caller = caller = Caller(request.req.env, site.enforcer)
    site.throttle.admit(caller)
    owner, subject = (caller.project_id, caller.user_id), ()
    if job is not None:
        found = find_job(site, caller, job)
        owner, subject = (found.project_id, found.user_id), (found,)
    if array is not None:
        found = find_array(site, caller, array)
        owner, subject = (found.project_id, found.user_id), (found,)
    caller.require(rule, *owner)
    return subject


def _answer_if_changed(
    resource: Resource, request: Request, resp: falcon.Response, status: int, make: Callable
) -> None:
    """Send the answer with its ETag, or only that the client has it already.

    :param make: makes the answer, unless a reader has just had the same.
    """
    tag = etags.of(resource.site, request, resource)
    if etags.is_known(request.req, tag):
        resp.status = http.HTTPStatus.NOT_MODIFIED
    else:
        resp.data = resource.site.answers.get(tag, lambda: _written_out(make()))
        resp.content_type, resp.status = falcon.MEDIA_JSON, status
    # Not before: a refusal has no tag.
    resp.set_headers(etags.headers(tag))


def _written_out(answer: dict) -> bytes:
    return _JSON.serialize(answer, falcon.MEDIA_JSON)


def page_size(site: Site, request: Request) -> int:
    """The most items in the answer."""
    return min(request.query.get("limit", site.conf.api.max_limit), site.conf.api.max_limit)


def next_page(request: Request, path: str, marker: str | None) -> list[dict]:
    """The link to the next page of a list; empty without one.

    :param marker: of the last item on this page; None if it is the last page.
    """
    if marker is None:
        return []
    query = {name: _written(value) for name, value in {**request.query, "marker": marker}.items()}
    return [{"rel": "next", "href": request.href(f"{path}?{urlencode(query)}")}]


def _written(value) -> str:
    """A query parameter's value as it is written in a URL."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)
