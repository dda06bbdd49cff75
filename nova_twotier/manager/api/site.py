"""What every resource works with."""

import functools
from dataclasses import dataclass

from oslo_config import cfg
from oslo_log import log as logging
from oslo_policy.policy import Enforcer

from nova_twotier.conf import ConfigError
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager.api import errors
from nova_twotier.manager.cloud import session_for
from nova_twotier.manager.db.store import Store
from nova_twotier.manager.trusts import Trusts

LOG = logging.getLogger(__name__)

#: Seconds that Placement and Keystone may take to answer, unless `[placement]timeout` and
#: `[nova]timeout` say otherwise.
PATIENCE = 10


@dataclass
class Site:
    """The options, the database, the policy, and the ways to the ledger and to Keystone."""

    conf: cfg.ConfigOpts
    store: Store
    enforcer: Enforcer

    @functools.cached_property
    def placement(self) -> Placement:
        """Opened when it is first needed: most requests do not.

        :raises Refused: if the options do not say how to reach it.
        """
        try:
            session, options = session_for(self.conf, "placement")
        except ConfigError as error:
            LOG.error("The ledger cannot be read: %s", error)
            raise errors.unavailable("the ledger in Placement") from None
        session.timeout = min(session.timeout or PATIENCE, PATIENCE)
        return Placement(session, **options)

    @functools.cached_property
    def trusts(self) -> Trusts | None:
        """None without Keystone: jobs run in the manager's own project then.

        :raises Refused: if the options do not say how the manager's user logs in.
        """
        if self.conf.api.auth_strategy != "keystone":
            return None
        try:
            session, _options = session_for(self.conf, "nova")
        except ConfigError as error:
            LOG.error("No trust can be made: %s", error)
            raise errors.unavailable("Keystone") from None
        session.timeout = min(session.timeout or PATIENCE, PATIENCE)
        return Trusts(session, self.conf.trust.roles)
