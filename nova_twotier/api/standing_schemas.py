"""JSON Schemas of `GET /v1/queue/jobs`."""

from nova_twotier.api.job_schemas import EXPLANATION, SUMMARY
from nova_twotier.api.schemas import ALL_PROJECTS, COUNT, NAME, PAGE, SORT_DIR, WHY, object_of
from nova_twotier.db.standings import PHASES, POSITION, SORT_KEYS

#: Of the first job on a page: more jobs than any queue has.
MOST_OFFSET = 10_000_000

STANDINGS_QUERY = {
    **PAGE,
    "offset": {
        **COUNT,
        "maximum": MOST_OFFSET,
        "default": 0,
        "description": "Leave out so many jobs at the beginning.",
    },
    "phase": {
        "type": "string",
        "enum": list(PHASES),
        "description": "Only jobs that wait, or only those that have started; default: both.",
    },
    "pool": {**NAME, "description": "Exactly this pool."},
    "project_id": {
        **NAME,
        "description": "Only jobs of this project, of those that the reader may see; of another "
        "one than the token's also without `all_projects`.",
    },
    "search": {
        **NAME,
        "description": "A part of number, name, uuid, user, project or reason, in upper or lower "
        "case. In reasons, words of the text are found, not the numbers in it.",
    },
    "sort_key": {
        "type": "string",
        "enum": list(SORT_KEYS),
        "default": POSITION,
        "description": "Jobs without it are the last. `start`: the expected start of jobs that "
        "wait, and that of the others.",
    },
    "sort_dir": SORT_DIR,
    "own_first": {
        "type": "boolean",
        "default": False,
        "description": "The jobs of the token's project before all others.",
    },
    **ALL_PROJECTS,
}
STANDING = object_of(
    {
        **SUMMARY["properties"],
        "position": EXPLANATION["properties"]["position"],
        "unblock": {**WHY, "description": "What its expected start depends on, to the minute."},
    },
    description="A job that is not over, with what its place in the queue says.",
)
STANDINGS = object_of(
    {
        "total": {**COUNT, "description": "Jobs that match, on all pages."},
        "counts": object_of(
            dict.fromkeys(PHASES, COUNT),
            description="Jobs that match but for their phase.",
        ),
        "projects": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids of the projects with jobs that match but for their project.",
        },
        "jobs": {"type": "array", "items": {"$ref": "#Standing"}},
    }
)

NAMED = {"Standing": STANDING, "Standings": STANDINGS}
