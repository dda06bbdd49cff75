"""The resource that cancels many jobs in one request."""

import functools

from nova_twotier.api import errors, selection_schemas, views
from nova_twotier.api.auth import Caller
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.errors import Refused
from nova_twotier.api.selections import selection
from nova_twotier.db import cancellation
from nova_twotier.db.models import Job
from nova_twotier.db.selection import Selection

RULE = "twotier:jobs:cancel_many"


class Cancellation(Resource):
    @endpoint(
        "Cancel many jobs",
        rule=RULE,
        query=selection_schemas.CANCEL_QUERY,
        body=selection_schemas.CANCEL_REQUEST,
        answers={202: selection_schemas.CANCELLED},
    )
    def on_post(self, request: Request):
        body, caller = request.body, request.caller
        # A caller who names jobs means exactly these, whatever their project, and is told of each
        # that there is not, or that may not be cancelled.
        named = "uuids" in body
        all_projects = named or request.query.get("all_projects", False)
        project = None if named else caller.scope(RULE, all_projects)
        jobs = self.site.store.jobs(
            selection=selection(body, project, active=None if named else True)
        )
        verdict = functools.cache(functools.partial(_verdict, caller))
        verdicts = [(job, verdict(job.project_id, job.user_id)) for job in jobs]
        refusals = {
            job.uuid: refusal
            for job, refusal in verdicts
            if refusal is not None and (named or refusal.status != 404)
        }
        allowed = [job for job, refusal in verdicts if refusal is None]
        accepted = cancellation.request(self.store_for(request), [job.number for job in allowed])
        if named:
            uuids = {uuid.lower() for uuid in body["uuids"]}
            found = self.site.store.jobs(selection=Selection(uuids=uuids))
            seen = {job.uuid for job in found if verdict(job.project_id, job.user_id) is None}
            missing = uuids - seen - refusals.keys()
            refusals |= dict.fromkeys(sorted(missing), errors.no_such_job())
            ended = [job for job in allowed if job.number not in accepted]
            refusals |= {job.uuid: errors.over(job.state) for job in ended}
        return {
            "jobs": [_cancelled(job) for job in allowed if job.number in accepted],
            "refused": [_refused(uuid, refusal) for uuid, refusal in refusals.items()],
        }


def _verdict(caller: Caller, project_id: str, user_id: str) -> Refused | None:
    """Why the caller may not cancel the jobs of a user in a project; None if they may."""
    if not caller.may("twotier:jobs:show", project_id, user_id):
        return errors.no_such_job()
    try:
        caller.require("twotier:jobs:cancel", project_id, user_id)
    except Refused as refusal:
        return refusal
    return None


def _cancelled(job: Job) -> dict:
    return {**views.asked(job), "asked_to": "cancel"}


def _refused(uuid: str, refusal: Refused) -> dict:
    return {
        "uuid": uuid,
        "status": refusal.status,
        "code": f"twotier.{refusal.code}",
        "detail": refusal.details[0],
    }
