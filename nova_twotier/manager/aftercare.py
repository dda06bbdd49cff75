"""What a pool's jobs and servers need besides actions: done after each poll that was recorded."""

from collections.abc import Callable
from concurrent.futures import Future

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.store import Store
from nova_twotier.manager.arrays import Arrays
from nova_twotier.manager.half_restored import HalfRestored
from nova_twotier.manager.late_boots import LateBoots
from nova_twotier.manager.notices import Notices
from nova_twotier.manager.operations.operation import CloudRequest, Note
from nova_twotier.manager.peers import Peers
from nova_twotier.manager.round import Round
from nova_twotier.manager.server_locks import Locks
from nova_twotier.manager.surplus import Surplus


class Aftercare:
    """Runs what follows each recorded poll: array limits, server locks, metadata, stray servers.

    None of it is part of the poll's transaction: after a crash, what Nova and the database show
    says what is left to do.

    :param tell: sends a request; its future holds the error, or None.
    """

    def __init__(
        self, store: Store, cloud: Cloud, pool: str, tell: Callable[[CloudRequest], Future]
    ):
        self._arrays = Arrays(store, cloud, pool, tell)
        self._locks = Locks(cloud, tell)
        self._notices = Notices(cloud, tell)
        self._peers = Peers(cloud, tell)
        self._half_restored = HalfRestored(cloud, tell)
        self._surplus = Surplus(cloud, tell)
        self._late_boots = LateBoots(store, cloud, pool, tell)

    @property
    def notes(self) -> list[Note]:
        """What has happened to jobs; the caller clears it when it has recorded that."""
        return self._peers.notes

    def poll(self, work: Round) -> None:
        seen, active, busy = work.seen, work.active, work.busy
        self._arrays.poll(work)
        self._locks.poll(active, seen)
        self._notices.poll(active, busy, seen)
        self._peers.poll(active, busy, seen)
        self._half_restored.poll(active, busy, seen)
        self._surplus.poll(active, seen)
        self._late_boots.poll(active, seen)
