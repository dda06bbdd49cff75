"""Rate limit of requests for each project, checked before any database access."""

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
    """Counts requests, and refuses those over the limit.

    :param options: group `[api]`.
    :raises ConfigError: if the limit or the storage of the counts is invalid.
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

        :raises Refused: if it exceeds the limit.
        """
        whose = ("project", caller.project_id) if caller.project_id else ("user", caller.user_id)
        try:
            for limit in self._limits:
                if not self._limiter.hit(limit, *whose):
                    again = self._limiter.get_window_stats(limit, *whose).reset_time - time.time()
                    raise errors.too_often(max(1, math.ceil(again)))
        except StorageError as error:
            # Without the counts, it is better to answer authenticated callers than to refuse them.
            LOG.warning("Could not count a request: %s", error)
