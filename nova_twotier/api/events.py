"""The resource of events: what happened to jobs."""

from nova_twotier.api import queries, schemas, views
from nova_twotier.api.endpoint import Request, Resource, endpoint, next_page, page_size
from nova_twotier.api.errors import invalid
from nova_twotier.api.finding import find_array, find_job
from nova_twotier.api.validation import parse_time
from nova_twotier.db.readers import Reader

RULE = "twotier:events:list"
#: Largest id of an event: a 32-bit integer in all databases.
MOST = 2**31 - 1


class Events(Resource):
    @endpoint(
        "List events, oldest first unless `sort_dir` says otherwise",
        rule=RULE,
        query=schemas.EVENTS_QUERY,
        answers={200: schemas.EVENTS},
        refusals=(404, 409),
        conditional=True,
    )
    def on_get(self, request: Request):
        query = request.query
        project = request.caller.scope(RULE, query.get("all_projects", False))
        job = find_job(self.site, request.caller, query["job"]) if "job" in query else None
        number = query.get("array")
        array = None if number is None else find_array(self.site, request.caller, str(number))
        if project and any(each and each.project_id != project for each in (job, array)):
            # Who may see it and names it means its events, not those of the token's project.
            project = request.caller.scope(RULE, all_projects=True)
        after = int(query["marker"]) if "marker" in query else None
        if after is not None and after > MOST:
            raise invalid(f"marker: give at most {MOST}")
        size = page_size(self.site, request)
        found = queries.events(
            self.site.store,
            project_id=project,
            job=job.number if job else None,
            array=array.number if array else None,
            since=parse_time(query["since"]).timestamp() if "since" in query else None,
            after=after,
            newest_first=query.get("sort_dir") == "desc",
            limit=size + 1,
        )
        found, more = found[:size], len(found) > size
        # An operator is told as much of one project's events as of all.
        every = request.caller.may(f"{RULE}:all_projects", request.caller.project_id)
        reasons = [event.reason for event, _job in found]
        reader = Reader(self.site.store, None if every else project, reasons)
        return {
            "events": [
                {
                    "id": str(event.id),
                    **reader.event(event),
                    "job": owner.uuid if owner else None,
                    "job_number": owner.number if owner else None,
                    "array": views.in_array(owner) if owner else None,
                    "project_id": owner.project_id if owner else None,
                }
                for event, owner in found
            ],
            "links": next_page(request, "/v1/events", str(found[-1][0].id) if more else None),
        }
