"""How often a project may ask: more is refused before the database is asked anything."""

import math
import time

import limits
from limits.errors import ConfigurationError, StorageError
from limits.strategies import SlidingWindowCounterRateLimiter
from oslo_log import log as logging

from nova_twotier.api import errors
from nova_twotier.api.auth import Caller
from nova_twotier.conf import ConfigError

LOG = logging.getLogger(__name__)


class Throttle:
    """
    :param options: those of group `[api]`.
    :raises ConfigError: if they are no limit, or nowhere to count.
    """

    def __init__(self, options):
        try:
            self._limits = limits.parse_many(options.rate_limit) if options.rate_limit else []
        except ValueError as error:
            raise ConfigError(
                f"[api]rate_limit is {options.rate_limit!r}: give such as 1200/minute, or nothing"
            ) from error
        try:
            storage = limits.storage.storage_from_string(
                options.rate_limit_storage, wrap_exceptions=True
            )
            self._limiter = SlidingWindowCounterRateLimiter(storage)
        except (ConfigurationError, NotImplementedError) as error:
            raise ConfigError(f"[api]rate_limit_storage: {error}") from error

    def admit(self, caller: Caller) -> None:
        """Count a request of the caller's project, or of the caller if there is no project.

        :raises Refused: if it is one too many.
        """
        whose = ("project", caller.project_id) if caller.project_id else ("user", caller.user_id)
        try:
            for limit in self._limits:
                if not self._limiter.hit(limit, *whose):
                    again = self._limiter.get_window_stats(limit, *whose).reset_time - time.time()
                    raise errors.too_often(max(1, math.ceil(again)))
        except StorageError as error:
            # Whoever is known is better answered too often than not at all.
            LOG.warning("Requests cannot be counted: %s", error)
