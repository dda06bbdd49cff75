"""The resources of jobs: submit, list, show, explain, change, and what may be asked of them."""

from collections.abc import Mapping

from nova_twotier.api import (
    errors,
    job_request_schemas,
    job_resources,
    job_schemas,
    job_trusts,
    qos,
    queries,
    quotas,
    requests,
    selection_schemas,
    servers,
    views,
)
from nova_twotier.api.collapsed import waiting_tasks
from nova_twotier.api.dependencies import dependencies
from nova_twotier.api.endpoint import Reply, Request, Resource, endpoint, next_page, page_size
from nova_twotier.api.errors import invalid
from nova_twotier.api.predictions import learned, tell
from nova_twotier.api.reasons import cure_of, reason_of, situation
from nova_twotier.api.selections import selection
from nova_twotier.core.qos import NORMAL
from nova_twotier.db import changes, deliveries, waiting_jobs
from nova_twotier.db.models import DEFAULT_POOL, Job
from nova_twotier.db.readers import Reader, numbered
from nova_twotier.db.states import COMPLETE, OVER
from nova_twotier.db.store import NoSuchJob, NotStarted


class JobResource(Resource):
    def project(self, request: Request) -> str | None:
        """The project whose jobs the caller may see; None for all projects."""
        sees_all = request.caller.may("twotier:jobs:list:all_projects", request.caller.project_id)
        return None if sees_all else request.caller.project_id

    def shown(self, request: Request, job: Job) -> dict:
        reason, [told] = reason_of(job), tell(self.site, [job])
        reader = Reader(self.site.store, self.project(request), [reason, told.unpredicted])
        behind = deliveries.backlog(self.site.store, job) if job.webhook else None
        has_user_data = self.site.store.has_user_data(job.number)
        owner = job.project_id, job.user_id
        hosts = request.caller.may("twotier:jobs:show:hosts", *owner)
        return {
            **views.job_in_full(
                request, job, reason, told, reader, behind, has_user_data, self.others(job)
            ),
            **servers.fields(self.site.store, job, hosts),
        }

    def others(self, job: Job) -> Mapping[int, Job]:
        """The jobs that a job depends on, by number."""
        return numbered(self.site.store, (each.job for each in job.dependencies))


class Jobs(JobResource):
    @endpoint(
        "Submit a job",
        rule="twotier:jobs:create",
        body=job_request_schemas.JOB_REQUEST,
        answers={201: job_schemas.JOB},
        refusals=(409,),
    )
    def on_post(self, request: Request):
        wanted = requests.job(request.body, self.site.conf.manager, self.site.conf.job_events)
        asked = wanted.pop("dependencies", ())
        wanted["dependencies"] = dependencies(self.site, request.caller, asked)
        owner = {"project_id": request.caller.project_id, "user_id": request.caller.user_id}
        pool = wanted.get("pool", DEFAULT_POOL)
        qos.check(self.site, request.caller, wanted.get("qos", NORMAL), pool, **owner)
        uuid = quotas.reserve(self.site, request.caller.project_id, wanted["size"], pool)
        with job_trusts.trust(self.site, request.caller, uuid) as trust:
            job_resources.check(self.site, request.caller, wanted, trust)
            job = self.store_for(request).submit(**wanted, **owner, trust_id=trust, submission=uuid)
        answer = self.shown(request, job)
        return Reply(answer, 201, {"Location": answer["links"][0]["href"]})

    @endpoint(
        "List jobs",
        rule="twotier:jobs:list",
        query=selection_schemas.JOBS_QUERY,
        answers={200: job_schemas.JOBS},
        conditional=True,
    )
    def on_get(self, request: Request):
        query = request.query
        project = request.caller.scope("twotier:jobs:list", query.get("all_projects", False))
        size = page_size(self.site, request)
        collapsed = query.get("collapsed", False)
        wanted = selection(query, project, active=query.get("active"))
        try:
            jobs = self.site.store.jobs(
                selection=wanted,
                collapsed=collapsed,
                newest_first=query.get("sort_dir") == "desc",
                limit=size + 1,
                marker=query.get("marker", "").lower() or None,
            )
        except NoSuchJob:
            raise invalid("marker: there is no such job; start again from the first page") from None
        jobs, more = jobs[:size], len(jobs) > size
        reasons, told = [reason_of(job) for job in jobs], tell(self.site, jobs)
        unpredicted = (each.unpredicted for each in told)
        reader = Reader(self.site.store, project, [*reasons, *unpredicted])
        waiting = waiting_tasks(self.site.store, jobs, wanted) if collapsed else {}
        found = zip(jobs, reasons, told, strict=True)
        # It grows by itself.
        without = {"elapsed": None} if request.conditional else {}
        return {
            "jobs": [
                views.job_summary(request, job, why, expected, reader)
                | {"waiting": waiting.get(job.number), **without}
                for job, why, expected in found
            ],
            "links": next_page(request, "/v1/jobs", jobs[-1].uuid if more else None),
        }

    def viewpoint(self, request: Request) -> object:
        return request.caller.scope("twotier:jobs:list", request.query.get("all_projects", False))


class OneJob(JobResource):
    @endpoint(
        "Show a job", rule="twotier:jobs:show", answers={200: job_schemas.JOB}, refusals=(404, 409)
    )
    def on_get(self, request: Request, job: Job):
        return self.shown(request, job)

    @endpoint(
        "Change a job",
        rule="twotier:jobs:set",
        body=job_request_schemas.JOB_CHANGE,
        answers={200: job_schemas.JOB},
        refusals=(404, 409),
    )
    def on_patch(self, request: Request, job: Job):
        rule = "twotier:jobs:set:extend"
        may_extend = request.caller.may(rule, job.project_id, job.user_id)
        new = requests.change(request.body)
        # Who changes something else of an urgent job need not be allowed to make it one.
        if new.get("qos", job.qos) != job.qos:
            owner = job.project_id, job.user_id
            qos.check(self.site, request.caller, new["qos"], job.pool, *owner)
        try:
            changed = changes.change(self.store_for(request), job.number, new, may_extend)
        except changes.HasSlots:
            raise errors.has_slots() from None
        except changes.Extension as error:
            raise errors.extension(error.walltime) from None
        return self.shown(request, still_open(changed))

    @endpoint(
        "Cancel a job",
        rule="twotier:jobs:cancel",
        answers={202: job_schemas.JOB},
        refusals=(404, 409),
    )
    def on_delete(self, request: Request, job: Job):
        asked = self.store_for(request).request_action(job.number, "cancel")
        return self.shown(request, still_open(asked))


class Complete(JobResource):
    @endpoint(
        "End a job that has started as finished",
        rule="twotier:jobs:complete",
        answers={202: job_schemas.JOB},
        refusals=(404, 409),
    )
    def on_post(self, request: Request, job: Job):
        try:
            asked = self.store_for(request).request_action(job.number, COMPLETE)
        except NotStarted:
            raise errors.not_started("cancel it instead") from None
        return self.shown(request, still_open(asked))


class Hold(JobResource):
    @endpoint(
        "Keep a job from starting, or from starting again after an eviction",
        rule="twotier:jobs:hold",
        answers={200: job_schemas.JOB},
        refusals=(404, 409),
    )
    def on_post(self, request: Request, job: Job):
        return self.shown(request, still_open(self.store_for(request).hold(job.number, True)))


class Release(JobResource):
    @endpoint(
        "Let a held job start",
        rule="twotier:jobs:release",
        answers={200: job_schemas.JOB},
        refusals=(404, 409),
    )
    def on_post(self, request: Request, job: Job):
        return self.shown(request, still_open(self.store_for(request).hold(job.number, False)))


class Requeue(JobResource):
    @endpoint(
        "Have a job that has started begin anew",
        rule="twotier:jobs:requeue",
        answers={202: job_schemas.JOB},
        refusals=(404, 409),
    )
    def on_post(self, request: Request, job: Job):
        try:
            asked = changes.requeue(self.store_for(request), job.number)
        except changes.Ending:
            raise errors.ending() from None
        except NotStarted:
            raise errors.not_started("there is nothing to requeue") from None
        return self.shown(request, still_open(asked))


class Explain(JobResource):
    @endpoint(
        "Explain why a job waits, its position in the queue, and what happened to it",
        rule="twotier:jobs:explain",
        answers={200: job_schemas.EXPLANATION},
        refusals=(404, 409),
    )
    def on_get(self, request: Request, job: Job):
        events = queries.latest(self.site.store, job.number, job_schemas.MOST_EVENTS)
        manager = self.site.heartbeats([job.pool])[job.pool]
        why, [told] = reason_of(job), tell(self.site, [job])
        reasons = [why, told.unpredicted, told.unblock, *(event.reason for event in events)]
        reader = Reader(self.site.store, self.project(request), reasons)
        keeps = queries.keeps_servers(self.site.store, job)
        return {
            "number": job.number,
            "uuid": job.uuid,
            "array": views.in_array(job),
            "state": job.state,
            "reason": situation(job, reader.text(why), manager, keeps),
            "why": reader.data(why),
            "cure": cure_of(job, why, manager),
            "position": self._position(job),
            **views.prediction(told, reader),
            "unblock": reader.data(told.unblock),
            "predictions": views.predictions(learned(self.site.store, job.pool)),
            "begin_at": views.time(job.begin_at),
            "dependencies": views.dependencies(job, self.others(job)),
            "events": [reader.event(event) for event in events],
        }

    def _position(self, job: Job) -> int | None:
        if not self.site.place_decided(job):
            return None
        with self.site.store.reading() as session:
            return waiting_jobs.positions(session, [job.number]).get(job.number)


def still_open(job: Job) -> Job:
    """:raises Refused: if the job is over."""
    if job.state in OVER:
        raise errors.over(job.state)
    return job
