"""Exports past jobs as a trace in the Standard Workload Format, which `twotier-sim` replays."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from nova_twotier.core.qos import QUEUES, Qos
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState

#: The format's codes of how a job ended.
_STATUS = {JobState.FAILED: 0, JobState.FINISHED: 1, JobState.CANCELLED: 5}
_UNKNOWN = -1

_NOTES = (
    "Fields: job, submit, wait, run, processors, (cpu), (memory), processors asked for, time asked "
    "for, (memory asked for), status, user, project, name, queue, (partition), (preceding job), "
    "(think time); those in brackets are not recorded.",
    "Times are in whole seconds; submit counts from UnixStartTime.",
    "wait: from the submission to the first start, with what time the job was held.",
    "run: from the first start to the end, with what time the job was preempted.",
    "processors: processes of the job, each a VM on one slot; -1 if it never started.",
    "status: 1 finished, 0 failed, 5 cancelled, -1 not over when this was written.",
    "user, project, name: numbers in the order of appearance.",
    "queue: the class of service; of a job whose class was changed, the last one.",
    "-1 stands for what is unknown.",
)


def swf(jobs: Sequence[Job], processors: int | None = None) -> Iterator[str]:
    """The lines of the trace, header first, without line breaks.

    :param jobs: in the order of submission.
    :param processors: foreground slots of the cluster. Without them a reader has to assume that the
        cluster is as large as the largest job.
    """
    begin = math.floor(jobs[0].submitted_at) if jobs else 0
    yield from _header(jobs, processors, begin)
    users, projects, names = _Numbers(), _Numbers(), _Numbers()
    for job in jobs:
        # Round times, not durations, so that consecutive events stay in order.
        submit = round(job.submitted_at - begin)
        start, end = (
            None if at is None else round(at - begin) for at in (job.started_at, job.finished_at)
        )
        started = start is not None
        fields = (
            job.number,
            submit,
            _UNKNOWN if start is None else start - submit,
            _UNKNOWN if start is None or end is None else end - start,
            job.size if started else _UNKNOWN,
            _UNKNOWN,
            _UNKNOWN,
            job.size,
            _UNKNOWN if job.estimate is None else math.ceil(job.estimate),
            _UNKNOWN,
            _STATUS.get(JobState(job.state), _UNKNOWN),
            users.of(job.user_id),
            projects.of(job.project_id),
            names.of(job.name),
            QUEUES[Qos(job.qos)],
            _UNKNOWN,
            _UNKNOWN,
            _UNKNOWN,
        )
        yield " ".join(map(str, fields))


def _header(jobs: Sequence[Job], processors: int | None, begin: int) -> Iterator[str]:
    yield "; Version: 2.2"
    yield "; Computer: OpenStack Nova with nova-twotier"
    yield "; Conversion: twotier-manage history export"
    yield f"; MaxJobs: {len(jobs)}"
    yield f"; MaxRecords: {len(jobs)}"
    yield "; Preemption: Yes"
    if jobs:
        last = max(_instants(jobs))
        yield f"; UnixStartTime: {begin}"
        yield "; TimeZoneString: UTC"
        yield f"; StartTime: {_date(begin)}"
        yield f"; EndTime: {_date(last)}"
    if processors is not None:
        yield f"; MaxProcs: {processors}"
    yield f"; MaxQueues: {len(QUEUES)}"
    yield "; Queues: one for each class of service"
    for qos, number in QUEUES.items():
        yield f"; Queue: {number} {qos}"
    for note in _NOTES:
        yield f"; Note: {note}"


def _instants(jobs: Iterable[Job]) -> Iterator[float]:
    for job in jobs:
        instants = (job.submitted_at, job.started_at, job.finished_at)
        yield from (at for at in instants if at is not None)


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")


class _Numbers:
    """Numbers values from 1 in the order of appearance; empty values get no number."""

    def __init__(self):
        self._seen: dict[Hashable, int] = {}

    def of(self, thing: str) -> int:
        return self._seen.setdefault(thing, len(self._seen) + 1) if thing else _UNKNOWN
