"""Rewrites the manager's texts for a reader, who may not see other projects' jobs."""

import re
from collections.abc import Iterable

from nova_twotier.api import queries
from nova_twotier.core.actions import Tier
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store

#: The name of a job in the manager's texts (`core.jobs.Job.label`).
_LABEL = re.compile(r"\bjob (\d{1,18})\b")
_TIERS = {Tier.FG: "the foreground", Tier.BG: "the background"}


class Texts:
    """The manager's texts for one project: jobs of other projects are not named.

    :param project_id: the reader's project; None for a reader who sees all projects.
    :param texts: all texts to rewrite, so that one database query is enough.
    """

    def __init__(self, store: Store, project_id: str | None, texts: Iterable[str]):
        self._project_id = project_id
        numbers = (int(number) for text in texts for number in _LABEL.findall(text))
        self._jobs = queries.numbered(store, numbers)

    def readable(self, text: str) -> str:
        return _LABEL.sub(self._name, text)

    def _name(self, label: re.Match) -> str:
        job = self._jobs.get(int(label[1]))
        if job is None or self._project_id not in (None, job.project_id):
            return "a job of another project"
        return f"{job.name or 'job'} ({job.uuid})"


def situation(job: Job) -> str:
    """A job's state and its reason, in words."""
    match job.state:
        case JobState.QUEUED:
            words = _waiting(job)
        case JobState.STARTING | JobState.RESTORING:
            words = "its servers are being built"
        case JobState.RUNNING:
            words = f"runs in {_TIERS[Tier(job.tier)]}" if job.tier else "runs"
        case JobState.PREEMPTING:
            words = "is being preempted"
        case JobState.ENDING:
            words = "is ending, its servers are being deleted"
        case _:
            words = f"is {job.state}" + (f": {job.reason}" if job.reason else "")
    if job.requested_action and not job.finished_at:
        words += f"; its owner asked to {job.requested_action} it"
    return words


def _waiting(job: Job) -> str:
    words = job.reason or "waits; the manager has not decided about it yet"
    if job.held and "held" not in words:
        words = f"held until it is released; {words}"
    if job.saved and "saved" not in words:
        words += "; its state is saved"
    return words
