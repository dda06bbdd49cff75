"""The site: configuration, database and clients that all resources share."""

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from keystoneauth1.session import Session
from oslo_config import cfg
from oslo_log import log as logging
from oslo_policy.policy import Enforcer

from nova_twotier.api import errors, keystone
from nova_twotier.api.aggregates import Aggregates
from nova_twotier.api.answers import Answers
from nova_twotier.api.known import Known
from nova_twotier.api.sweeping import Sweeper
from nova_twotier.api.throttle import Throttle
from nova_twotier.cloud.logins import Logins
from nova_twotier.cloud.sessions import session_for
from nova_twotier.cloud.trusts import Trusts
from nova_twotier.conf import ConfigError
from nova_twotier.db import queue_policy
from nova_twotier.db.heartbeats import Heartbeat, heartbeats
from nova_twotier.db.models import Job
from nova_twotier.db.store import Store
from nova_twotier.ledger.placement import Placement

LOG = logging.getLogger(__name__)

#: Seconds that Placement and Keystone may take to answer, unless `[placement]timeout` and
#: `[nova]timeout` say otherwise.
DEFAULT_TIMEOUT = 10


@dataclass
class Site:
    """The options, the database, the callers' limits, and the clients for ledger and Keystone.

    :param sweeper: of trusts without jobs.
    :param known: what callers have, by which jobs are checked.
    :param answers: that readers share.
    """

    conf: cfg.ConfigOpts
    store: Store
    enforcer: Enforcer
    throttle: Throttle
    sweeper: Sweeper = field(default_factory=Sweeper)
    known: Known = field(default_factory=Known)
    answers: Answers = field(default_factory=Answers)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the release and the options: ETags of other ones must not match."""
        groups = ("manager", "api", "coordination")
        options = [sorted(dict(self.conf[group]).items()) for group in groups]
        version = metadata.version("nova-twotier")
        return hashlib.sha256(repr((version, options)).encode()).hexdigest()

    def heartbeats(self, pools: Iterable[str]) -> dict[str, Heartbeat]:
        """The last heartbeats of the queue managers of these pools, by pool."""
        return heartbeats(self.store, pools, self.conf.coordination.lease)

    def used_policy(self, pool: str) -> str | None:
        """The policy that the manager of a pool uses; None if none runs, or none has polled yet."""
        if self.heartbeats([pool])[pool].missing:
            return None
        with self.store.reading() as session:
            return queue_policy.in_use(session, pool)

    @property
    def shares_fairly(self) -> bool:
        return self.conf.manager.fair_share != "none"

    def place_decided(self, job: Job) -> bool:
        """Whether the position of a waiting job in the queue is known.

        With fair share, the manager decides it at its next poll. Until then the job would seem to
        be ahead of those that fair share has put back.
        """
        return not self.shares_fairly or job.queue_offset is not None

    @functools.cached_property
    def placement(self) -> Placement:
        """A client for Placement, made at the first use, since most requests do not need it.

        :raises Refused: if the options do not say how to reach Placement.
        """
        session, options = self._session("placement", "the ledger in Placement")
        return Placement(session, **options)

    @functools.cached_property
    def aggregates(self) -> Aggregates:
        """The reader of Nova's host aggregates.

        :raises Refused: if the options do not say how to reach it.
        """
        session, options = self.nova()
        return Aggregates(session, **options)

    def nova(self) -> tuple[Session, dict[str, Any]]:
        """A session with Nova as the manager's user, with its adapter's options.

        :raises Refused: if the options do not say how to reach it.
        """
        return self._session("nova", "Nova")

    @functools.cached_property
    def trusts(self) -> Trusts | None:
        """The client for trusts; None without Keystone: jobs run in the manager's own project then.

        :raises Refused: if the options do not say how the manager's user logs in.
        """
        if self.conf.api.auth_strategy != "keystone":
            return None
        session, _options = self._session("nova", "Keystone")
        return Trusts(session, self.conf.trust.roles)

    @functools.cached_property
    def logins(self) -> Logins | None:
        """Where users of the board log in; None if there is no board, or no Keystone."""
        return keystone.logins(self.conf)

    def _session(self, group: str, service: str) -> tuple[Session, dict[str, Any]]:
        """A session with short timeouts, and its adapter's options.

        :param service: the service's name in error messages.
        """
        try:
            session, options = session_for(self.conf, group)
        except ConfigError as error:
            LOG.error("Cannot reach %s: %s", service, error)
            raise errors.unavailable(service) from None
        session.timeout = min(session.timeout or DEFAULT_TIMEOUT, DEFAULT_TIMEOUT)
        return session, options
