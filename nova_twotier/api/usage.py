"""The resource of usage: for how long jobs held slots in a period, by tier."""

import time
from datetime import UTC, datetime

from nova_twotier.api import usage_schemas, views
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.errors import invalid
from nova_twotier.api.validation import parse_time
from nova_twotier.db import readers, usage
from nova_twotier.db.usage import By, InvalidUsage, Key, Question, Span

#: Most rows of an answer.
MOST_ROWS = 10_000
RULE = "twotier:usage:show"


class Usage(Resource):
    @endpoint(
        "Show usage: slot-seconds by tier, lost work and jobs of a period",
        rule=RULE,
        query=usage_schemas.USAGE_QUERY,
        answers={200: usage_schemas.USAGE},
    )
    def on_get(self, request: Request):
        query = request.query
        try:
            question = Question(
                period=_period(query, time.time()),
                by=[By(word) for word in query.get("by", ())],
                project_id=_project(request),
                user_id=query.get("user_id"),
                pool=query.get("pool"),
            )
            with self.site.store.snapshot() as session:
                found = usage.usage(session, question, MOST_ROWS)
        except InvalidUsage as error:
            raise invalid(str(error)) from None
        return {
            **_span(question.period),
            "total": _sums(usage.total(found.values())),
            "usage": self._rows(question, found) if question.by else [],
        }

    def _rows(self, question: Question, found: dict[Key, usage.Usage]) -> list[dict]:
        numbers = {key.job for key in found if key.job is not None}
        jobs, spans = readers.numbered(self.site.store, numbers), question.spans
        rows = []
        for key, sums in found.items():
            job = None if key.job is None else jobs.get(key.job)
            rows.append(
                {
                    **_span(spans[key.span]),
                    "project_id": key.project_id,
                    "user_id": key.user_id,
                    "pool": key.pool,
                    # An empty one is not known.
                    "qos": key.qos or None,
                    "job": job and job.uuid,
                    "job_number": job and job.number,
                    "job_name": job and job.name,
                    "array": job and views.in_array(job),
                    **_sums(sums),
                }
            )
        return rows


def _project(request: Request) -> str | None:
    """The project whose usage is asked for; None for all projects.

    :raises Refused: if the caller may not see that.
    """
    caller, wanted = request.caller, request.query.get("project_id")
    if wanted is None:
        return caller.scope(RULE, request.query.get("all_projects", False))
    if wanted != caller.project_id:
        caller.require(f"{RULE}:all_projects", caller.project_id)
    return wanted


def _period(query: dict, now: float) -> Span:
    """The period of a query, which ends now at the latest."""
    end = min(now, parse_time(query["end"]).timestamp() if "end" in query else now)
    if "start" in query:
        return Span(max(0.0, parse_time(query["start"]).timestamp()), end)
    # The month that ends then, if one does.
    month = datetime.fromtimestamp(max(0.0, end - 0.001), UTC).replace(day=1)
    return Span(month.replace(hour=0, minute=0, second=0, microsecond=0).timestamp(), end)


def _span(span: Span) -> dict:
    return {"start": views.time(span.start), "end": views.time(span.end)}


def _sums(sums: usage.Usage) -> dict:
    return {
        # To the millisecond.
        "foreground": round(sums.foreground, 3),
        "background": round(sums.background, 3),
        "lost": round(sums.lost, 3),
        "jobs_started": sums.started,
        "jobs_ended": sums.ended,
    }
