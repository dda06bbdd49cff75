"""Tells the guests of running jobs who they are and where the others are.

What Nova shows decides whether they have been told, so that a manager that has just started tells
nobody twice.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from nova_twotier.cloud import peers
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.core.reasons import changes
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.gang import PREEMPTED
from nova_twotier.manager.operations.operation import CloudRequest, Note

#: Seconds until a server that does not show what it was told is told again; and until then if Nova
#: refused it.
RETRY_AFTER, RETRY_REFUSED_AFTER = 30.0, 600.0
#: Seconds after the start of a job in which all its servers should have addresses; then the guests
#: are told which have none.
ADDRESSES_DUE = 30.0
#: By these Nova says that the project's quota `metadata_items` is used up.
OVER_QUOTA = (403, 413)
#: Seconds that a warning of the end of the walltime may take: Nova writes back all metadata of a
#: server at once, so that of two requests at the same time one may be undone.
WARNING = 10.0


#: What a server may be told: all, and then less and less, if Nova does not take as many items.
_Versions = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class _Told:
    """
    :param version: which of the versions it was told.
    """

    versions: _Versions
    version: int
    asked: Asked[CloudError | None]

    @property
    def cut(self) -> bool:
        """Whether it knows less than all."""
        return self.version > 0 and self.asked.answer.done() and not self.asked.answer.result()

    def following(self, versions: _Versions, now: float) -> int | None:
        """The version to tell it now; None: nothing."""
        if not self.asked.answer.done():
            return None
        if versions != self.versions:
            return 0
        error = self.asked.answer.result()
        if error and error.status in OVER_QUOTA and self.version + 1 < len(versions):
            return self.version + 1
        refused = error is not None and not error.passing
        pause = RETRY_REFUSED_AFTER if refused or self.version else RETRY_AFTER
        return 0 if self.asked.may_repeat(now, pause) else None


class Peers:
    """Writes the metadata that `cloud.peers` describes: one request for each server, and another
    one when something in them has changed.

    The guests wait for it. If it is more than the project's quota allows, they are told less at
    once, and all of it is tried again later.

    :param tell: sends a request; its future holds the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud, self._tell = cloud, tell
        #: What each server was told last.
        self._told: dict[str, _Told] = {}
        #: What each job and its servers looked like when there was nothing to tell, by the job's
        #: number. Nova's answer is kept while it is the same: comparing it takes no time.
        self._settled: dict[int, tuple] = {}
        #: Numbers of the jobs whose guests know less than all.
        self._cut: set[int] = set()
        #: What has happened to jobs; the caller clears it when it has recorded that.
        self.notes: list[Note] = []

    def poll(self, jobs: Iterable[Job], busy: Container[int], seen: Observation) -> None:
        """Tell the servers of jobs that run and that no open action is about.

        :param busy: numbers of jobs with an open action.
        """
        before, self._told = self._told, {}
        settled, self._settled = self._settled, {}
        cut, self._cut = self._cut, set()
        for job in jobs:
            if job.number in cut:
                self._cut.add(job.number)
            if not job.peers or job.state != JobState.RUNNING or job.number in busy:
                continue
            if job.warned_at is not None and seen.at < job.warned_at + WARNING:
                continue
            gang = seen.gang(job)
            look = _look_of(job, gang)
            if settled.get(job.number) == look:
                self._settled[job.number] = look
                continue
            if len(gang) != job.size or not _addresses_known(job, gang, seen.at):
                continue
            items = peers.running(job, gang)
            ignorant = [server for server in gang if not peers.shows(server, items)]
            versions = [items, *peers.in_brief(job, gang)]
            for server in ignorant:
                told = self._require(server, versions, before.get(server.id), seen.at)
                if told and told.cut:
                    self._cut.add(job.number)
            if not ignorant:
                self._settled[job.number] = look
                self._cut.discard(job.number)
            elif job.number in self._cut - cut:
                self.notes.append(Note(job.number, "peers", changes.PEERS_LEFT_OUT()))

    def _require(
        self, server: Server, versions: _Versions, told: _Told | None, now: float
    ) -> _Told | None:
        """Tell a server, unless it was told the same a moment ago or Nova takes nothing now.

        :returns: what it was told last.
        """
        # A notice is withdrawn by a request of its own, see `notices`.
        open_to_it = server.status in peers.TAKES_METADATA and not server.busy
        withdrawing = server.notice.startswith(PREEMPTED)
        version = 0 if told is None else told.following(versions, now)
        if open_to_it and not withdrawing and version is not None:
            run = partial(self._cloud.set_metadata, server, versions[version])
            request = CloudRequest(RequestKey("peers", server.id), run)
            told = _Told(versions, version, Asked(now, self._tell(request)))
        if told:
            self._told[server.id] = told
        return told


def _look_of(job: Job, gang: Iterable[Server]) -> tuple:
    """All that decides about what the guests are told."""
    shown = [(server.metadata, server.addresses) for server in gang]
    return job.name, job.walltime, job.restarts, shown


def _addresses_known(job: Job, gang: Iterable[Server], now: float) -> bool:
    """Whether all servers show addresses, or should have shown them by now."""
    if job.size == 1 or all(server.fixed_addresses for server in gang):
        return True
    return now >= (job.run_since or 0.0) + ADDRESSES_DUE
