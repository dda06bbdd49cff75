"""From a method of a resource to the answer to a request, and its description for others."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nova_twotier.manager.api import errors, validation
from nova_twotier.manager.api.auth import Caller
from nova_twotier.manager.api.site import Site
from nova_twotier.manager.db.models import Job
from nova_twotier.manager.db.store import NoSuchJob

#: Refusals that any request may meet, besides those of its own.
ALWAYS = (400, 406, 500, 503)
IDENTIFIED = (401, 403)


@dataclass(frozen=True)
class Operation:
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
class Call:
    """A request that may be answered: who asks, and what they say."""

    req: object
    caller: Caller | None
    query: dict
    body: dict | None = None

    def href(self, path: str) -> str:
        """The address of something of ours, as the caller reaches us."""
        return f"{self.req.prefix}{path}"


@dataclass
class Answer:
    """What to send, if it is not just a body with the first status."""

    body: dict
    status: int
    headers: dict[str, str] = field(default_factory=dict)


class Resource:
    """A noun of the API; its methods are made with `operation`."""

    def __init__(self, site: Site):
        self.site = site


def operation(summary: str, **description) -> Callable:
    """Make a responder of `method(self, call, **path)`, where a job's uuid comes as the job.

    In this order: is the caller known, do they see the job, may they do this, is what they say
    valid.
    """
    described = Operation(summary, **description)
    query = validation.validator(validation.query_schema(described.query))
    body = validation.validator(described.body) if described.body else None

    def decorate(method):
        @functools.wraps(method)
        def respond(resource, req, resp, uuid=None):
            call = Call(req, None, {})
            subject = ()
            if described.rule:
                call.caller = Caller(req.env, resource.site.enforcer)
                owner = call.caller.project_id, call.caller.user_id
                if uuid is not None:
                    job = find_job(resource.site, call.caller, str(uuid))
                    owner, subject = (job.project_id, job.user_id), (job,)
                call.caller.require(described.rule, *owner)
            call.query = validation.read_query(req.query_string, query)
            if body:
                call.body = validation.read_body(req, body)
            answer = method(resource, call, *subject)
            if not isinstance(answer, Answer):
                answer = Answer(answer, next(iter(described.answers)))
            resp.media, resp.status = answer.body, answer.status
            resp.set_headers(answer.headers)

        respond.operation = described
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
