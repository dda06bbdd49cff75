"""`GET /v1/queue/jobs`: the jobs that wait or run in any order, with their positions."""

import time

from nova_twotier.api import standing_schemas, views
from nova_twotier.api.collapsed import waiting_tasks
from nova_twotier.api.endpoint import Request, Resource, endpoint, page_size
from nova_twotier.api.predictions import tell
from nova_twotier.api.reasons import reason_of
from nova_twotier.db import standings
from nova_twotier.db.readers import Reader
from nova_twotier.db.selection import Selection
from nova_twotier.db.standings import Question, Standing

RULE = "twotier:queue:jobs"
MINUTE = 60


class Standings(Resource):
    @endpoint(
        "List the jobs that wait or run in any order, with their positions in the queue",
        rule=RULE,
        query=standing_schemas.STANDINGS_QUERY,
        answers={200: standing_schemas.STANDINGS},
        conditional=True,
    )
    def on_get(self, request: Request):
        query, size = request.query, page_size(self.site, request)
        scope, offset = self._scope(request), query.get("offset", 0)
        question = Question(
            scope=scope,
            project_id=query.get("project_id"),
            pool=query.get("pool"),
            phase=query.get("phase"),
            search=query.get("search", ""),
            sort_key=query.get("sort_key", standings.POSITION),
            descending=query.get("sort_dir") == "desc",
            own=_own(request),
            shared=self.site.shares_fairly,
        )
        with self.site.store.reading() as session:
            counts = standings.counts(session, question)
            found = standings.page(session, question, offset, size)
        phases = counts.phases
        total = sum(phases.values()) if question.phase is None else phases[question.phase]
        return {
            "total": total,
            "counts": phases,
            "projects": counts.projects,
            "jobs": self._rows(request, found, scope),
        }

    def viewpoint(self, request: Request) -> object:
        return self._scope(request), _own(request)

    def state(self, request: Request) -> int:
        # What a start depends on has the minutes until then.
        return int(time.time() // MINUTE)

    def _scope(self, request: Request) -> str | None:
        caller, query = request.caller, request.query
        others = query.get("project_id", caller.project_id) != caller.project_id
        if others and caller.may(f"{RULE}:all_projects", caller.project_id):
            # Who may see it and names it means its jobs, not those of the token's project.
            return None
        return caller.scope(RULE, query.get("all_projects", False))

    def _rows(self, request: Request, found: list[Standing], scope: str | None) -> list[dict]:
        jobs = [each.job for each in found]
        reasons, told = [reason_of(job) for job in jobs], tell(self.site, jobs)
        explained = [part for each in told for part in (each.unpredicted, each.unblock)]
        reader = Reader(self.site.store, scope, [*reasons, *explained])
        wanted = Selection(project_id=scope, pool=request.query.get("pool"))
        waiting = waiting_tasks(self.site.store, jobs, wanted)
        rows = []
        for (job, position), why, expected in zip(found, reasons, told, strict=True):
            row = views.job_summary(request, job, why, expected, reader)
            row |= {"waiting": waiting.get(job.number), "elapsed": None}
            known = position if self.site.place_decided(job) else None
            rows.append({**row, "position": known, "unblock": reader.data(expected.unblock)})
        return rows


def _own(request: Request) -> str | None:
    """The project whose jobs come first."""
    return (request.caller.project_id or None) if request.query.get("own_first") else None
