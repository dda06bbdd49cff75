"""From a method of a resource to the answer to a request, and its description for others."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from nova_twotier.api import errors, validation
from nova_twotier.api.auth import Caller
from nova_twotier.api.site import Site
from nova_twotier.db.models import Job
from nova_twotier.db.store import NoSuchJob

#: Refusals that any request may meet, besides those of its own.
ALWAYS = (400, 406, 500, 503)
IDENTIFIED = (401, 403, 429)


@dataclass(frozen=True)
class Endpoint:
    """What a method does, for the OpenAPI document and for those who check it.

    :param rule: of oslo.policy; None: for everybody, without a token.
    :param answers: the schema of each status of success.
    :param refusals: HTTP statuses of its own.
    """

    summary: str
    rule: str | None
    answers: Mapping[int, dict]
    query: Mapping[str, dict] = field(default_factory=dict)
    body: dict | None = None
    refusals: tuple[int, ...] = ()

    @property
    def statuses(self) -> list[int]:
        """All refusals that are possible."""
        found = {*ALWAYS, *self.refusals, *(IDENTIFIED if self.rule else ())}
        return sorted(found | ({413, 415} if self.body else set()))


@dataclass
class Request:
    """A request that may be answered: who asks, and what they say."""

    req: object
    caller: Caller | None
    query: dict
    body: dict | None = None

    def href(self, path: str) -> str:
        """The address of something of ours, as the caller reaches us."""
        return f"{self.req.prefix}{path}"


@dataclass
class Reply:
    """What to send, if it is not just a body with the first status."""

    body: dict
    status: int
    headers: dict[str, str] = field(default_factory=dict)


class Resource:
    """A noun of the API; its methods are made with `endpoint`."""

    def __init__(self, site: Site):
        self.site = site


def endpoint(summary: str, **description) -> Callable:
    """Make a responder of `method(self, request, **path)`, where a job's uuid comes as the job.

    In this order: is the caller known, do they ask too often, do they see the job, may they do
    this, is what they say valid.
    """
    described = Endpoint(summary, **description)
    query = validation.validator(validation.query_schema(described.query))
    body = validation.validator(described.body) if described.body else None

    def decorate(method):
        @functools.wraps(method)
        def respond(resource, req, resp, uuid=None):
            request = Request(req, None, {})
            subject = ()
            if described.rule:
                request.caller = Caller(req.env, resource.site.enforcer)
                resource.site.throttle.admit(request.caller)
                owner = request.caller.project_id, request.caller.user_id
                if uuid is not None:
                    job = find_job(resource.site, request.caller, str(uuid))
                    owner, subject = (job.project_id, job.user_id), (job,)
                request.caller.require(described.rule, *owner)
            request.query = validation.read_query(req.query_string, query)
            if body:
                request.body = validation.read_body(req, body)
            answer = method(resource, request, *subject)
            if not isinstance(answer, Reply):
                answer = Reply(answer, next(iter(described.answers)))
            resp.media, resp.status = answer.body, answer.status
            resp.set_headers(answer.headers)

        respond.endpoint = described
        return respond

    return decorate


def find_job(site: Site, caller: Caller, uuid: str) -> Job:
    """:raises Refused: if there is none that the caller may see."""
    try:
        job = site.store.find(uuid)
    except NoSuchJob:
        raise errors.no_such_job() from None
    if not caller.may("twotier:jobs:show", job.project_id, job.user_id):
        raise errors.no_such_job()
    return job


def page_size(site: Site, request: Request) -> int:
    """Items that the answer has at most."""
    return min(request.query.get("limit", site.conf.api.max_limit), site.conf.api.max_limit)


def next_page(request: Request, path: str, marker: str | None) -> list[dict]:
    """The link to the next page of a long list.

    :param marker: of the last item, if there is another page.
    """
    if marker is None:
        return []
    query = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in {**request.query, "marker": marker}.items()
    }
    return [{"rel": "next", "href": request.href(f"{path}?{urlencode(query)}")}]
