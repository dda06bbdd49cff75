"""Locks the servers of jobs, so that their owners change them only through the job.

The lock is an administrator's: tenants cannot remove it, and it does not hinder the manager.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future

from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest

#: Seconds until a lock that does not show is requested again.
RETRY_AFTER = 30.0
#: So many servers that show a lock are locked at the same time: after a takeover these are all
#: servers of all jobs, and other requests wait behind them.
AT_ONCE = 16
#: A server in one of these states that is on no host has no cell: Nova cannot lock it.
UNMADE = frozenset({"BUILD", "ERROR"})


class Locks:
    """Locks each server once, and again if the lock does not show.

    :param tell: sends a request; its future holds the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud, self._tell = cloud, tell
        #: The last request to lock each server.
        self._asked: dict[str, Asked] = {}

    def poll(self, jobs: Iterable[Job], seen: Observation) -> None:
        """Lock servers that this manager has not locked yet, even if they show a lock: it may be
        the owner's, who could remove it. Servers of jobs without a trust are the manager's own.

        This needs no waiting: Nova locks a server in any state, even while it is built.
        """
        before, self._asked = self._asked, {}
        left = AT_ONCE - sum([not asked.answer.done() for asked in before.values()])
        for job in jobs:
            if not job.trust_id or job.state == JobState.ENDING:
                continue
            for server in seen.gang(job):
                asked = before.get(server.id)
                unmade = server.host is None and server.status in UNMADE
                due = asked is None or _in_vain(asked, server, seen.at)
                if due and not unmade and (left > 0 or not server.locked):
                    asked = Asked(seen.at, self._lock(server, job.uuid))
                    left -= 1
                if asked:
                    self._asked[server.id] = asked

    def _lock(self, server: Server, job: str) -> Future:
        reason = f"job {job} of nova-twotier: use `openstack twotier job`"
        key = RequestKey("lock", server.id)
        return self._tell(CloudRequest(key, lambda: self._cloud.lock(server, reason)))


def _in_vain(asked: Asked, server: Server, now: float) -> bool:
    """Whether a lock has to be requested again."""
    if not asked.may_repeat(now, RETRY_AFTER):
        return False
    return asked.answer.result() is not None or not server.locked
