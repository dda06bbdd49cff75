"""Job arrays on the command line: how they are written, found, followed and described."""

import argparse
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from nova_twotier.client import columns, progress
from nova_twotier.client.rest import OVER, Api, ApiError, TasksOfArray, is_uuid
from nova_twotier.core import indexes
from nova_twotier.core.indexes import InvalidIndexes
from nova_twotier.core.jobs import job_label

#: Some tasks of an array, also as lists show those that wait: `12_[0,4,9,...+271%8]`.
_SOME = re.compile(
    r"(?P<array>[0-9]+)_\[(?P<indexes>[^]%]*?)(,\.\.\.\+(?P<more>[0-9]{1,5}))?(%[0-9]+)?\]"
)
#: What stands for what in the place of a job, where an array will do but not some of its tasks.
JOB_OR_WHOLE_ARRAY = (
    "number, name or uuid of a job, or the beginning of its uuid; of an array: 12 for all of its "
    "tasks, 12_3 for one"
)
#: The same where these will do, too.
JOB_OR_ARRAY = f"{JOB_OR_WHOLE_ARRAY}, '12_[0-9,20]' for some"
#: States of tasks that have started; a short one is over before it is seen to run. `ending` tells
#: nothing: so are tasks that are cancelled before they start.
_STARTED = ("running", "restoring", "preempting", "finished", "failed")
#: What to say where they will not.
WHOLE_OR_ONE = "give a whole array, such as 12, or a task, such as 12_3"


@dataclass(frozen=True)
class Found:
    """A job, or an array of which perhaps only some tasks are meant.

    :ivar indexes: of those; None: all.
    """

    job: dict | None = None
    array: dict | None = None
    indexes: str | None = None


def find(api: Api, text: str) -> Found:
    """The job, array or tasks that a text names: a number, a name, a uuid, `12_3` or `12_[0-9]`.

    :raises ApiError: if there is none, or more than one.
    """
    if some := _SOME.fullmatch(text):
        try:
            shown = indexes.parse(some["indexes"])
        except InvalidIndexes as error:
            raise ApiError(str(error)) from None
        array, wanted = api.array(some["array"]), some["indexes"]
        if some["more"]:
            wanted = _whole_line(api, array, shown, int(some["more"]))
        return Found(array=array, indexes=wanted)
    try:
        job = api.find(text)
    except TasksOfArray as found:
        array = api.array(str(found.array))
        if array["name"] != text:
            raise  # only these tasks are called so
        return Found(array=array)
    except ApiError as error:
        if error.status != 404 or not is_uuid(text):
            raise
        try:
            return Found(array=api.array(text))
        except ApiError:
            raise error from None
    # An API of an earlier release has no arrays.
    array = job.get("array")
    if array and text.isdecimal() and int(text) == array["number"]:
        return Found(array=api.array(text))
    return Found(job=job)


def find_whole(api: Api, text: str) -> Found:
    """Like `find`, but a text that names only some tasks of an array is refused.

    :raises ApiError: also for some tasks.
    """
    found = find(api, text)
    if found.indexes:
        raise ApiError(f"{text}: {WHOLE_OR_ONE}")
    return found


def reference(api: Api, text: str) -> dict:
    """A job by its uuid, or all tasks of an array by its number, as a field of a request.

    :raises ApiError: as `find_whole`.
    """
    found = find_whole(api, text)
    return {"array": found.array["number"]} if found.array else {"job": found.job["uuid"]}


def _whole_line(api: Api, array: dict, shown: list[int], more: int) -> str:
    """The indexes of a line of `job list` of which people see only the first.

    Some of these may have started since; that is no matter, since they are named.

    :param more: so many follow the ones that are shown.
    :raises ApiError: if there is no such line any more, or the list was one of other tasks.
    """
    number = array["number"]
    for task in api.jobs(array=number, state=["queued"], collapsed=True):
        waiting = (task.get("waiting") or "").partition("%")[0]
        line = indexes.parse(waiting) if waiting else []
        after = [index for index in line if index > shown[-1]]
        if len(after) == more and set(line).difference(after).issubset(shown):
            return indexes.written([*shown, *after])
    raise ApiError(
        f"there are no {more:,} such tasks of {label(array)} any more: list them again, or give "
        f"indexes, of which job show {number} has all that wait"
    )


def ask(
    api: Api, array: dict, wanted: str | None, action: str, refuse: Callable[[str], None]
) -> list[dict]:
    """Ask something of those tasks of an array that there are; returns them.

    :param wanted: the indexes; None: all.
    :param refuse: told of the indexes without a task.
    :raises ApiError: if the API refuses.
    """
    if wanted:
        asked, there = set(indexes.parse(wanted)), set(indexes.parse(array["indexes"]))
        if missing := asked - there:
            noun = "task" if len(missing) == 1 else "tasks"
            refuse(f"{label(array)} has no {noun} {indexes.written(missing)}")
            wanted = indexes.written(asked & there)
            # An empty text would be all of them.
            if not wanted:
                return []
    return api.ask_tasks(array["number"], action, wanted)


def request(text: str) -> dict:
    """Parse the option `--array`: indexes, and after a % how many tasks run at the same time.

    :returns: what it adds to the body of a request.
    :raises argparse.ArgumentTypeError: if it is neither.
    """
    written, percent, most = text.partition("%")
    try:
        found = indexes.parse(written)
    except InvalidIndexes as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not percent:
        return {"indexes": written}
    return {"indexes": written, "most_at_once": min(limit(most), len(found))}


def limit(text: str) -> int:
    """Parse how many tasks may run at the same time."""
    if not text.isdecimal() or not 1 <= int(text) <= indexes.MOST_TASKS:
        raise argparse.ArgumentTypeError(
            f"{text!r} tasks at the same time: give a number from 1 to {indexes.MOST_TASKS:,}"
        )
    return int(text)


def label(array: dict) -> str:
    return f"array {job_label(array['number'], array['name'])}"


def counts(array: dict) -> str:
    """How many of its tasks are in which state."""
    return ", ".join(f"{count:,} {state}" for state, count in array["tasks"].items() if count)


def submitted(array: dict, held: bool) -> str:
    """A new array in a sentence."""
    most = array["most_at_once"]
    tasks = columns.counted(sum(array["tasks"].values()), "task")
    limited = f", at most {most:,} at the same time" if most else ""
    waits = ", held until it is released" if held else ""
    return f"A{label(array)[1:]} with {tasks} is {array['state']}{waits}{limited}."


def follow(api: Api, array: dict, until: str) -> dict:
    """Wait until a task of an array has started, or until all are over; returns the array.

    :raises ApiError: if the API refuses.
    :raises KeyboardInterrupt: after it has been said that the array goes on.
    """
    try:
        with progress.Display(sys.stderr) as display:
            return _watch(api, str(array["number"]), until, display)
    except KeyboardInterrupt:
        print(
            f"no longer waiting for {label(array)}, which goes on; to cancel it: "
            f"openstack twotier job cancel {array['number']}",
            file=sys.stderr,
            flush=True,
        )
        raise


def _watch(api: Api, number: str, until: str, display: progress.Display) -> dict:
    waited = 0.0
    while True:
        try:
            array = api.array(number)
        except ApiError as error:
            if not error.passing:
                raise
            display.show(f"{error}; trying again")
        else:
            display.show(f"{label(array)}: {counts(array)}")
            started = any(array["tasks"].get(state) for state in _STARTED)
            if array["state"] in OVER or (until == progress.STARTED and started):
                return array
        pause = progress.interval(waited)
        time.sleep(pause)
        waited += pause


def failure(array: dict) -> str | None:
    """How an array ended, if not all of its tasks succeeded."""
    if array["state"] not in ("failed", "cancelled"):
        return None
    return f"{label(array)} is {array['state']}: {counts(array)}"
