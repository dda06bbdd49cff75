"""The resources of job arrays: submit, show, change, and what may be asked of their tasks."""

from nova_twotier.api import (
    array_schemas,
    errors,
    job_resources,
    job_trusts,
    qos,
    quotas,
    requests,
    views,
)
from nova_twotier.api.dependencies import dependencies
from nova_twotier.api.endpoint import Reply, Request, Resource, endpoint
from nova_twotier.api.errors import invalid
from nova_twotier.core import indexes
from nova_twotier.core.indexes import InvalidIndexes
from nova_twotier.core.qos import NORMAL
from nova_twotier.db import array_requests, arrays
from nova_twotier.db.models import DEFAULT_POOL, Array
from nova_twotier.db.states import OVER


class ArrayResource(Resource):
    def shown(self, request: Request, array: Array) -> dict:
        with self.site.store.reading() as session:
            found = arrays.find(session, array.number) or array
            counts = arrays.by_state(session, array.number)
            waiting = arrays.waiting(session, [array.number])[array.number]
        return views.array(request, found, counts, waiting)


class Arrays(ArrayResource):
    @endpoint(
        "Submit a job array",
        rule="twotier:arrays:create",
        body=array_schemas.ARRAY_REQUEST,
        answers={201: array_schemas.ARRAY},
        refusals=(409,),
    )
    def on_post(self, request: Request):
        caller, body = request.caller, dict(request.body)
        caller.require("twotier:jobs:create", caller.project_id, caller.user_id)
        most = body.pop("most_at_once", None)
        tasks = arrays.Tasks(body.pop("indexes"), None if most is None else int(most))
        count = len(_parsed(tasks.written))
        wanted = requests.job(body, self.site.conf.manager, self.site.conf.job_events)
        asked = wanted.pop("dependencies", ())
        wanted["dependencies"] = dependencies(self.site, caller, asked)
        owner = {"project_id": caller.project_id, "user_id": caller.user_id}
        pool = wanted.get("pool", DEFAULT_POOL)
        qos.check(self.site, caller, wanted.get("qos", NORMAL), pool, **owner)
        uuid = quotas.reserve(self.site, caller.project_id, wanted["size"], pool, count)
        with job_trusts.trust(self.site, caller, uuid) as trust:
            job_resources.check(self.site, caller, wanted, trust)
            first = self.store_for(request).submit(
                **wanted, **owner, trust_id=trust, submission=uuid, tasks=tasks
            )
        with self.site.store.reading() as session:
            answer = self.shown(request, arrays.find(session, first.number))
        return Reply(answer, 201, {"Location": answer["links"][0]["href"]})


class OneArray(ArrayResource):
    @endpoint(
        "Show a job array: its tasks by state",
        rule="twotier:arrays:show",
        answers={200: array_schemas.ARRAY},
        refusals=(404,),
    )
    def on_get(self, request: Request, array: Array):
        return self.shown(request, array)

    @endpoint(
        "Change a job array, and its tasks that have not started",
        rule="twotier:arrays:set",
        body=array_schemas.ARRAY_CHANGE,
        answers={200: array_schemas.ARRAY},
        refusals=(404, 409),
    )
    def on_patch(self, request: Request, array: Array):
        request.caller.require("twotier:jobs:set", array.project_id, array.user_id)
        self._require_open(array)
        new = requests.change(request.body)
        if "qos" in new:
            owner = array.project_id, array.user_id
            qos.check(self.site, request.caller, new["qos"], array.pool, *owner)
        if new.get("most_at_once") is not None:
            new["most_at_once"] = int(new["most_at_once"])
        array_requests.change(self.store_for(request), array.number, new)
        return self.shown(request, array)

    def _require_open(self, array: Array) -> None:
        with self.site.store.reading() as session:
            state = arrays.state(arrays.by_state(session, array.number))
        if state in OVER:
            raise errors.over(state)


class Actions(ArrayResource):
    @endpoint(
        "Ask something of the tasks of a job array",
        rule="twotier:arrays:ask",
        body=array_schemas.ARRAY_ACTION,
        answers={202: array_schemas.ARRAY_ASKED},
        refusals=(404, 409),
    )
    def on_post(self, request: Request, array: Array):
        action, written = request.body["action"], request.body.get("indexes")
        request.caller.require(f"twotier:jobs:{action}", array.project_id, array.user_id)
        wanted = None if written is None else _parsed(written)
        if wanted and (unknown := set(wanted).difference(_parsed(array.indexes))):
            missing = indexes.written(unknown)[:60]
            raise invalid(f"indexes: array {array.number} has no tasks {missing}")
        asked = array_requests.ask(self.store_for(request), array.number, action, wanted)
        if not asked:
            raise errors.no_such_tasks(action)
        return {"jobs": [views.asked(job) for job in asked]}


def _parsed(written: str) -> list[int]:
    """:raises Refused: if they cannot be the indexes of an array."""
    try:
        return indexes.parse(written)
    except InvalidIndexes as error:
        raise invalid(f"indexes: {error}") from None
