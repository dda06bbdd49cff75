"""Options of `job create` that keep a job out of the queue for the time being."""

from nova_twotier.client import arguments, arrays, begin
from nova_twotier.client.rest import Api

#: By the condition, as options and API call it.
_CONDITIONS = {
    "after": "after it has started, or is over without having started",
    "after-ok": "after it has finished; if it fails or is cancelled, so is this job",
    "after-any": "after it is over, in whatever way",
}


def add(parser) -> None:
    group = parser.add_argument_group("when it may start; its place in the queue counts from then")
    group.add_argument(
        "--begin",
        type=begin.parse,
        metavar="<time>",
        help="not before this time: 2026-01-31T12:00 (here, or with a zone), 18:30 (the next "
        "one), now+2h",
    )
    for condition, text in _CONDITIONS.items():
        group.add_argument(
            f"--{condition}",
            dest=condition,
            action="append",
            metavar="<job>",
            help=f"{text}: {arguments.JOB}, or the number of an array, all tasks of which count; "
            "repeat for several",
        )


def given(api: Api, parsed_args) -> dict:
    """What the options say, as the API has it; None where they say nothing.

    :raises ApiError: if a job is not there.
    :raises ValueError: for some tasks of an array.
    """
    dependencies = [
        {"condition": condition, **_of(api, job)}
        for condition in _CONDITIONS
        for job in getattr(parsed_args, condition) or ()
    ]
    return {"begin_at": parsed_args.begin, "dependencies": dependencies or None}


def _of(api: Api, text: str) -> dict:
    """A job, or all tasks of an array, as a dependency has it."""
    found = arrays.find(api, text)
    if found.indexes:
        raise ValueError(f"{text}: give a whole array, such as 12, or a task, such as 12_3")
    return {"array": found.array["number"]} if found.array else {"job": found.job["uuid"]}
