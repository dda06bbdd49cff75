"""A command that answers people in one line, and programs in full."""

import contextlib

from nova_twotier.client import columns, tables
from nova_twotier.client.rest import Api, ApiError

_TIERS = {"fg": " in the foreground", "bg": " in the background"}


class ShowBriefly(tables.ShowOne):
    """Prints `line`, unless the user gives a format (`-f`) or columns (`-c`).

    :ivar brief: whether it does; known when the action is taken.
    :ivar line: set by the action.
    """

    brief = False
    line = ""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        # cliff has no format of one line, and a new one would be one of all commands.
        for action in parser._actions:
            if action.dest == "formatter":
                action.help = "show all fields, in this format (default: one line)"
                action.default = None
        return parser

    def run(self, parsed_args):
        self.brief = parsed_args.formatter is None and not parsed_args.columns
        parsed_args.formatter = parsed_args.formatter or self.formatter_default
        return super().run(parsed_args)

    def produce_output(self, parsed_args, column_names, data):
        if not self.brief:
            return super().produce_output(parsed_args, column_names, data)
        print(self.line, file=self.app.stdout)
        return 0


def state(api: Api, job: dict, moves: bool = False) -> str:
    """A job's state in a sentence, with its place in the queue.

    :param moves: whether its priority or class has just changed.
    """
    said = f"{job['state']}{_TIERS[job['tier']] if job['tier'] else ''}"
    if job["state"] == "queued":
        said += ", held until it is released" if job["held"] else _place(api, job, moves)
    return f"J{columns.label(job)[1:]} is {said}."


def _place(api: Api, job: dict, moves: bool) -> str:
    """A queued job's place in the queue, or what it waits for before; empty if it is not known."""
    # The job is submitted, whether or not the API still answers.
    with contextlib.suppress(ApiError):
        explained = api.explain(job["uuid"])
        if (slots := _slots_if_too_few(api, job, explained)) == 0:
            return f", but pool {job['pool']} has no hosts: it waits until the operator adds some"
        if slots is not None:
            needs = columns.counted(job["size"], "slot")
            return (
                f", but larger than its pool: it needs {needs} in one tier, and pool {job['pool']} "
                f"has {slots:,}. Cancel it and submit it with a smaller size, or wait until hosts "
                "are added to the pool"
            )
        if explained["position"] and moves:
            # The API knows only the old place.
            return "; its place changes at the manager's next poll"
        if explained["position"]:
            return f", {ordinal(explained['position'])} in the queue"
        if (waits := _wait(explained)) is not None:
            return f"; it waits {waits}"
    return ""


def _slots_if_too_few(api: Api, job: dict, explained: dict) -> int | None:
    """The number of slots in each tier of the job's pool; None if they are enough, or unknown."""
    why = explained.get("why") or {}
    if why.get("code") == "too-large":
        return why["parameters"]["slots"]
    if why.get("code") == "empty-pool":
        return 0
    if why.get("code") == "undecided":
        # The manager has yet to look at the job.
        with contextlib.suppress(ApiError):
            slots = {pool["name"]: pool["slots"] for pool in api.pools()}
            found = slots.get(job["pool"], job["size"])
            return found if found < job["size"] else None
    return None


def _wait(explained: dict) -> str | None:
    """What keeps a job out of the queue: a time or other jobs; None: neither, or an older API."""
    jobs = explained.get("dependencies") or ()
    unmet = [
        f"for {'array' if each.get('array') else 'job'} {columns.awaited(each)} "
        f"({each['condition']})"
        for each in jobs
        if not each["met_at"]
    ]
    begin = explained.get("begin_at")
    parts = [*([f"until {columns.instant(begin)}"] if begin else []), *unmet]
    return " and ".join(parts) or None


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, and so on."""
    teen = 10 <= number % 100 <= 20
    return f"{number:,}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
