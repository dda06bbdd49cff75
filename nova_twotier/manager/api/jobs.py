"""Jobs: submitted, listed, shown, explained, held, released, completed, cancelled."""

from nova_twotier.manager.api import (
    lending,
    paging,
    questions,
    quotas,
    requests,
    schemas,
    views,
    words,
)
from nova_twotier.manager.api.errors import Refused, invalid
from nova_twotier.manager.api.operation import Answer, Call, Resource, operation
from nova_twotier.manager.db.models import OVER, Job
from nova_twotier.manager.db.store import NoSuchJob


class JobResource(Resource):
    def reader(self, call: Call) -> str | None:
        """The project whose jobs the caller may know of; None: all."""
        sees_all = call.caller.may("twotier:jobs:list:all_projects", call.caller.project_id)
        return None if sees_all else call.caller.project_id

    def shown(self, call: Call, job: Job) -> dict:
        texts = words.Texts(self.site.store, self.reader(call), [job.reason])
        return views.job_in_full(call, job, texts.readable(job.reason))


class Jobs(JobResource):
    @operation(
        "Submit a job",
        rule="twotier:jobs:create",
        body=schemas.JOB_REQUEST,
        answers={201: schemas.JOB},
        refusals=(409,),
    )
    def on_post(self, call: Call):
        request = requests.job(call.body, self.site.conf.manager)
        owner = {"project_id": call.caller.project_id, "user_id": call.caller.user_id}
        with (
            lending.trust(self.site, call.caller) as trust,
            quotas.room_for(self.site, call.caller.project_id, request["size"]),
        ):
            job = self.site.store.submit(**request, **owner, trust_id=trust)
        answer = self.shown(call, job)
        return Answer(answer, 201, {"Location": answer["links"][0]["href"]})

    @operation(
        "List jobs",
        rule="twotier:jobs:list",
        query=schemas.JOBS_QUERY,
        answers={200: schemas.JOBS},
    )
    def on_get(self, call: Call):
        query = call.query
        project = call.caller.scope("twotier:jobs:list", query.get("all_projects", False))
        size = paging.page_size(self.site, call)
        try:
            jobs = self.site.store.jobs(
                project_id=project,
                state=query.get("state"),
                name=query.get("name"),
                pool=query.get("pool"),
                limit=size + 1,
                marker=query.get("marker", "").lower() or None,
            )
        except NoSuchJob:
            raise invalid("marker: there is no such job; start again from the first page") from None
        jobs, more = jobs[:size], len(jobs) > size
        texts = words.Texts(self.site.store, project, [job.reason for job in jobs])
        return {
            "jobs": [views.job_summary(call, job, texts.readable(job.reason)) for job in jobs],
            "links": paging.links(call, "/v1/jobs", jobs[-1].uuid if more else None),
        }


class OneJob(JobResource):
    @operation("Show a job", rule="twotier:jobs:show", answers={200: schemas.JOB}, refusals=(404,))
    def on_get(self, call: Call, job: Job):
        return self.shown(call, job)

    @operation(
        "Cancel a job",
        rule="twotier:jobs:cancel",
        answers={202: schemas.JOB},
        refusals=(404, 409),
    )
    def on_delete(self, call: Call, job: Job):
        return self.shown(call, still_open(self.site.store.wish(job.number, "cancel")))


class Complete(JobResource):
    @operation(
        "End a job as finished",
        rule="twotier:jobs:complete",
        answers={202: schemas.JOB},
        refusals=(404, 409),
    )
    def on_post(self, call: Call, job: Job):
        return self.shown(call, still_open(self.site.store.wish(job.number, "complete")))


class Hold(JobResource):
    @operation(
        "Keep a job from starting, or from starting again after an eviction",
        rule="twotier:jobs:hold",
        answers={200: schemas.JOB},
        refusals=(404, 409),
    )
    def on_post(self, call: Call, job: Job):
        return self.shown(call, still_open(self.site.store.hold(job.number, True)))


class Release(JobResource):
    @operation(
        "Let a held job start",
        rule="twotier:jobs:release",
        answers={200: schemas.JOB},
        refusals=(404, 409),
    )
    def on_post(self, call: Call, job: Job):
        return self.shown(call, still_open(self.site.store.hold(job.number, False)))


class Explain(JobResource):
    @operation(
        "Say why a job waits, where in the queue, and what happened to it",
        rule="twotier:jobs:explain",
        answers={200: schemas.EXPLANATION},
        refusals=(404,),
    )
    def on_get(self, call: Call, job: Job):
        events = questions.latest(self.site.store, job.number, schemas.MOST_EVENTS)
        situation = words.situation(job)
        texts = words.Texts(
            self.site.store, self.reader(call), [situation, *(event.detail for event in events)]
        )
        return {
            "uuid": job.uuid,
            "state": job.state,
            "reason": texts.readable(situation),
            "position": questions.position(self.site.store, job),
            "events": [views.happening(event, texts.readable(event.detail)) for event in events],
        }


def still_open(job: Job) -> Job:
    """:raises Refused: if the job was over before it was asked something."""
    if job.state in OVER:
        raise Refused(409, "job.over", f"the job is {job.state}: nothing can be asked of it")
    return job
