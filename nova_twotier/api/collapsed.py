"""Lists in which one waiting task of an array stands for the others that wait with it."""

from collections.abc import Iterable

from nova_twotier.core import indexes
from nova_twotier.db import arrays
from nova_twotier.db.models import Job
from nova_twotier.db.selection import Selection
from nova_twotier.db.store import Store


def waiting_tasks(store: Store, jobs: Iterable[Job], wanted: Selection) -> dict[int, str]:
    """The waiting tasks that each listed task stands for, such as `4-99%8`, by its job number.

    :param wanted: which jobs the list has.
    """
    standing = [job for job in jobs if job.array and arrays.is_waiting(job)]
    if not standing:
        return {}
    with store.reading() as session:
        numbers = {job.array for job in standing if job.array}
        waiting = arrays.waiting_by_hold(session, numbers, wanted)
        limits = arrays.limits(session, numbers)
    found = {}
    for job in standing:
        # Somebody may have held or released it since the list was read.
        some = waiting.get((job.array or 0, job.held)) or [job.array_index or 0]
        limit = None if job.held else limits.get(job.array or 0)
        found[job.number] = indexes.written(some) + (f"%{limit}" if limit else "")
    return found
