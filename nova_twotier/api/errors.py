"""Refusals of requests, in the error format of the OpenStack API guidelines."""

import http
from collections.abc import Sequence

#: Most mistakes of a request, or candidates for a job, to report.
MOST = 10
#: Statuses that Python 3.13 renamed: programs know our errors by these names.
_NAMES = {
    413: "Request Entity Too Large",
    414: "Request-URI Too Long",
    416: "Requested Range Not Satisfiable",
    422: "Unprocessable Entity",
}


class Refused(Exception):
    """A refusal of a request.

    :param status: HTTP status.
    :param code: the error for programs, such as `job.not_found`.
    :param details: one or more sentences for people: what is wrong and what to do.
    :param headers: headers of the answer.
    :param members: further members of each error.
    """

    def __init__(self, status: int, code: str, *details: str, headers=None, **members):
        super().__init__("; ".join(details))
        self.status = status
        self.code = code
        self.details = details[:MOST]
        self.headers = headers or {}
        self.members = members


def invalid(*details: str) -> Refused:
    return Refused(400, "request.invalid", *details)


def forbidden(detail: str) -> Refused:
    return Refused(403, "request.forbidden", detail)


def no_such_job() -> Refused:
    """A refusal that does not show whether the job exists in another project."""
    return Refused(404, "job.not_found", "there is no such job in your project")


def ambiguous_job(name: str, candidates: Sequence[str]) -> Refused:
    """
    :param candidates: the jobs that it may be, for people.
    """
    more = len(candidates) - MOST
    shown = "; ".join([*candidates[:MOST], *([f"and {more} more"] if more > 0 else [])])
    detail = f"{len(candidates)} uuids begin with {name}, so give a number or more of one: {shown}"
    return Refused(409, "job.ambiguous", detail)


def over(state: str) -> Refused:
    return Refused(409, "job.over", f"the job is {state}: nothing can be asked of it")


def extension(walltime: float) -> Refused:
    return forbidden(
        f"walltime: the job has slots, and others were planned with its {walltime:g} s: the policy "
        "twotier:jobs:set:extend does not let you give it more; ask an operator"
    )


def no_classes() -> Refused:
    return forbidden(
        "qos: this site has no classes other than normal; an operator can switch them on with "
        "[manager]qos_classes"
    )


def not_urgent(rule: str) -> Refused:
    return forbidden(
        f"qos: the policy {rule} does not let you have urgent jobs; ask an operator for the role "
        "that it names, or to make this job urgent"
    )


def no_background(pool: str, policy: str) -> Refused:
    return Refused(
        409,
        "qos.no_background",
        f"qos: scavengers run in the background only, which the policy {policy} of pool {pool} "
        "does not use; make it a normal job, or ask an operator for a policy with two tiers",
    )


def has_slots() -> Refused:
    return Refused(
        409,
        "job.has_slots",
        "qos: the job has slots, or is about to get them, and keeps its class until it waits "
        "again; submit another one, or requeue it",
    )


def ending() -> Refused:
    return Refused(409, "job.ending", "the job is about to end: it cannot begin anew any more")


def not_started(instead: str) -> Refused:
    """:param instead: what follows for the request, or what to do instead."""
    return Refused(409, "job.not_started", f"the job has not started: {instead}")


def no_such_tasks(action: str) -> Refused:
    """:param action: what was asked of tasks of an array of which none can do it."""
    detail = "all of these tasks are over"
    if action == "requeue":
        detail = "none of these tasks has started, or all of them are over: nothing can begin anew"
    elif action == "complete":
        detail = "those of these tasks that are not over have not started: cancel them instead"
    return Refused(409, "array.no_such_tasks", detail)


def no_such_array() -> Refused:
    """A refusal that does not show whether the array exists in another project."""
    return Refused(404, "array.not_found", "there is no such job array in your project")


def never_met(job: str, state: str) -> Refused:
    return Refused(
        409,
        "dependency.failed",
        f"dependencies: job {job} is {state}, so that a job after its success could never start",
    )


def draining(pool: str) -> Refused:
    return Refused(
        409,
        "queue.draining",
        f"the queue of pool {pool} is draining and takes no jobs; submit the job when it is active "
        "again, see /v1/queue",
    )


def too_often(seconds: int) -> Refused:
    return Refused(
        429,
        "rate.exceeded",
        f"your project makes more requests than it may; ask again in {seconds} s",
        headers={"Retry-After": str(seconds)},
    )


def too_many_logins(seconds: int) -> Refused:
    return Refused(
        429,
        "login.too_often",
        f"too many logins from this address or as this user; try again in {seconds} s",
        headers={"Retry-After": str(seconds)},
    )


def wrong_login() -> Refused:
    """A refusal that does not show which part of the credentials is wrong."""
    return Refused(
        401,
        "login.refused",
        "Keystone does not let you in with these: check the names and the secret",
    )


def wrong_origin() -> Refused:
    """The error for a single sign-on form that comes from another origin than Keystone's."""
    return Refused(
        403,
        "login.wrong_origin",
        "this login does not come from the Keystone of the board: begin it on the board. For "
        "operators: [api]board_websso_url must be the address of Keystone in browsers, and its "
        "pages must not have the header Referrer-Policy: no-referrer",
    )


def no_logins() -> Refused:
    return Refused(
        404,
        "login.off",
        "this API gives no tokens: ask Keystone for one; an operator can switch the board on, "
        "whose users log in here, with [api]board",
    )


def unavailable(what: str) -> Refused:
    return Refused(
        503,
        "service.unavailable",
        f"{what} does not answer; try again later",
        headers={"Retry-After": "5"},
    )


def document(request_id: str, error: Refused) -> dict:
    """The body of the answer."""
    return {
        "errors": [
            {
                "request_id": request_id,
                "code": f"twotier.{error.code}",
                "status": error.status,
                "title": _name(error.status),
                "detail": detail,
                "links": [],
                **error.members,
            }
            for detail in error.details
        ]
    }


def plain(status: int, detail: str = "", headers=None) -> Refused:
    """A refusal by a library, which gives only an HTTP status and perhaps a sentence."""
    name = _name(status)
    code = "request." + name.lower().replace(" ", "_").replace("-", "_")
    return Refused(status, code, detail or name, headers=headers)


def failure() -> Refused:
    """The answer to an internal error; the log has the details."""
    return Refused(
        500,
        "internal",
        "the API failed on this request; tell the operator its request id",
    )


def _name(status: int) -> str:
    return _NAMES.get(status) or http.HTTPStatus(status).phrase
