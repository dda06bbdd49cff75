"""Records which hosts of a pool count as dead: the next leader sees all that are down at once."""

from collections.abc import Set

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from nova_twotier.db.models import DeadHost


class DeadHosts:
    """What the database has of them; to be read again after a transaction that failed."""

    def __init__(self, session: Session, pool: str):
        self._pool = pool
        found = session.scalars(select(DeadHost.host).where(DeadHost.pool == pool))
        self.names = frozenset(found)

    def record(self, session: Session, dead: Set[str]) -> None:
        """Make these the dead hosts."""
        back = self.names - dead
        alive = DeadHost.pool == self._pool, DeadHost.host.in_(back)
        session.execute(delete(DeadHost).where(*alive))
        session.add_all(DeadHost(pool=self._pool, host=host) for host in sorted(dead - self.names))
        self.names = frozenset(dead)
