"""Carries out the drains of hosts: in what the policy sees, and in Nova's scheduler.

The policy also sees when a planned drain begins, see `core.windows`.

The database says which hosts are drained. From the beginning of a drain the pool's leader counts
the host as disabled, and disables its nova-compute, so that Nova places nothing there either. The
reason that it gives Nova tells its own doing from an operator's: it enables no other nova-compute
again. Nothing is kept in memory alone, so the next leader continues.
"""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from oslo_log import log as logging

from nova_twotier.cloud.hosts import Hosts
from nova_twotier.cloud.nova import Cloud
from nova_twotier.db import drains
from nova_twotier.db.models import Drain
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.store import Store
from nova_twotier.manager.operations.operation import CloudRequest

LOG = logging.getLogger(__name__)

#: What the reason begins with that Nova shows of a nova-compute that is disabled for a drain.
OURS = "twotier drain"
#: Characters of a reason that Nova allows.
LONGEST = 255


class Drains:
    """The drains of a pool's hosts.

    :param hosts: of the pool; those that are drained no longer count as enabled.
    :param tell: makes a request to Nova that belongs to no action; its future holds the error, or
        None.
    """

    def __init__(
        self,
        store: Store,
        cloud: Cloud,
        hosts: Hosts,
        pool: str,
        tell: Callable[[CloudRequest], Future],
    ):
        self._store, self._cloud, self._hosts = store, cloud, hosts
        self._pool, self._tell = pool, tell
        #: Those that have begun, by host.
        self._begun: dict[str, Drain] = {}
        #: What the last poll asked of Nova, and its answers.
        self._asked: dict[RequestKey, Future] = {}
        #: The hosts whose jobs are to be moved to others.
        self.vacated: frozenset[str] = frozenset()

    def read(self, now: float) -> bool:
        """Read which hosts are drained, and which will be; returns whether that has changed."""
        with self._store.reading() as session:
            found = drains.present(session, now)
        begun = {drain.host: drain for drain in drains.begun(found, now)}
        vacated = frozenset(host for host, drain in begun.items() if drain.migrate)
        changed = begun.keys() != self._begun.keys() or vacated != self.vacated
        if changed:
            self._hosts.drained = frozenset(begun)
            # To see at once what Nova makes of it, see `follow`.
            self._hosts.expire(drop=True)
        self._begun, self.vacated = begun, vacated
        before = self._hosts.closes
        self._hosts.closes = {host: each.since for host, each in found.items() if each.since > now}
        return changed or self._hosts.closes != before

    def follow(self) -> None:
        """Let Nova's scheduler know; to be called whenever the hosts were read from Nova.

        It is repeated then if it has failed, or if somebody enabled a drained host.
        """
        before, self._asked = self._asked, {}
        for name, host in self._hosts.computes.items():
            shape = host.shape
            drain = self._begun.get(name)
            if shape is not None and shape.pool != self._pool:
                continue  # its own leader does it
            if drain is not None and shape is not None and host.service and not host.disabled:
                key = RequestKey("drain", name)
                reason = f"{OURS}: {drain.reason}" if drain.reason else OURS
                run = partial(self._cloud.disable, host.service, reason[:LONGEST])
                said = "Host %s is drained: disabling its nova-compute"
            elif drain is None and host.disabled and host.disabled_reason.startswith(OURS):
                key = RequestKey("undrain", name)
                run = partial(self._cloud.enable, host.service)
                said = "Host %s is no longer drained: enabling its nova-compute"
            else:
                continue
            self._asked[key] = self._ask(key, run, said, before.get(key))

    def _ask(
        self, key: RequestKey, run: Callable[[], object], said: str, last: Future | None
    ) -> Future:
        """Make a request about a host, and say so unless it has failed the last time.

        :param last: its last answer, an error or None, if the poll before asked for the same.
        """
        if last is not None and not last.done():
            return last
        error = last.result() if last is not None else None
        if error is None:
            LOG.info(said, key.server)
        return self._tell(CloudRequest(key, run, before=error))
