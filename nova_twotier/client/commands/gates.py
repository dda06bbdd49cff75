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
        help=f"not before this time: {begin.FORMS}",
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
    """The options as fields of a request to the API; None for options that were not given.

    :raises ApiError: if a job is not there, or for some tasks of an array.
    """
    dependencies = [
        {"condition": condition, **arrays.reference(api, job)}
        for condition in _CONDITIONS
        for job in getattr(parsed_args, condition) or ()
    ]
    return {"begin_at": parsed_args.begin, "dependencies": dependencies or None}
