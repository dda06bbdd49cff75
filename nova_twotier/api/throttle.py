"""Rate limits: of requests for each project, before any database access, and of logins."""

import hashlib
import math
import time
from collections.abc import Iterable

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
        self._limits = _parsed(options, "rate_limit", "1200/minute")
        self._login_limits = _parsed(options, "login_limit", "10/minute")
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
            seconds = self._count(self._limits, whose)
        except StorageError as error:
            # Without the counts, it is better to answer authenticated callers than to refuse them.
            LOG.warning("Could not count a request: %s", error)
            return
        if seconds:
            raise errors.too_often(seconds)

    def admit_login(self, address: str, who: Iterable[str]) -> None:
        """Count a login from an address and as a user.

        :param who: the names of the user as whom somebody wants to log in.
        :raises Refused: if it exceeds a limit; also if it cannot be counted, since passwords could
            be guessed without limit.
        """
        # Names may be anything, and be long.
        user = hashlib.sha256(repr(tuple(who)).encode()).hexdigest()
        try:
            for whose in (("login from", address), ("login as", user)):
                if seconds := self._count(self._login_limits, whose):
                    raise errors.too_many_logins(seconds)
        except StorageError as error:
            LOG.error("Could not count a login: %s", error)
            raise errors.unavailable("the storage of the rate limit") from None

    def _count(self, wanted: Iterable[limits.RateLimitItem], whose: tuple[str, str]) -> int:
        """Count a request; the seconds until one is admitted again, 0 if this one is.

        :raises StorageError: if it cannot be counted.
        """
        for limit in wanted:
            if not self._limiter.hit(limit, *whose):
                again = self._limiter.get_window_stats(limit, *whose).reset_time - time.time()
                return max(1, math.ceil(again))
        return 0


def _parsed(options, name: str, example: str) -> list[limits.RateLimitItem]:
    """The rate limits that an option sets.

    :raises ConfigError: if it is not in their notation.
    """
    try:
        return limits.parse_many(options[name]) if options[name] else []
    except ValueError as error:
        raise ConfigError(
            f"[api]{name} is {options[name]!r}: give such as {example}, or nothing"
        ) from error
