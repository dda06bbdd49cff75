"""Rate limits: of requests for each project, before any database access, and of logins."""

import contextlib
import hashlib
import ipaddress
import math
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

import limits
from limits.errors import ConfigurationError, StorageError
from limits.strategies import FixedWindowRateLimiter, SlidingWindowCounterRateLimiter
from oslo_log import log as logging

from nova_twotier.api import errors
from nova_twotier.api.auth import Caller
from nova_twotier.conf import ConfigError

LOG = logging.getLogger(__name__)

#: Spent by the first login of a user from an address: from then on, the user is known there.
_KNOWN = limits.RateLimitItemPerDay(1, 14)
#: Bits of an IPv6 address that belong to one site: its hosts choose the others at will.
_SITE_BITS = 64


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
            self._known = FixedWindowRateLimiter(storage)
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
        """Apply the login limits: to the address, and to the user unless known to log in there.

        So wrong guesses of others lock no user out of the places where the user has logged in.

        :param address: as oslo.middleware has it.
        :param who: the names of the user as whom somebody wants to log in.
        :raises Refused: if it exceeds a limit; also if it cannot be counted, since passwords could
            be guessed without limit.
        """
        place, user = _place(address), _digest(who)
        try:
            counted = [("login from", place)]
            if self._known.test(_KNOWN, "login", place, user):
                counted.append(("login as", user))
            for whose in counted:
                if seconds := self._count(self._login_limits, whose):
                    raise errors.too_many_logins(seconds)
        except StorageError as error:
            LOG.error("Could not count a login: %s", error)
            raise errors.unavailable("the storage of the rate limit") from None

    def remember_login(self, address: str, who: Iterable[str]) -> None:
        """Remember for two weeks that a user has logged in from an address."""
        if not self._login_limits:
            return
        try:
            known = _KNOWN, "login", _place(address), _digest(who)
            # Otherwise the two weeks would be those after the first login.
            self._known.clear(*known)
            self._known.hit(*known)
        except StorageError as error:
            LOG.warning("Could not remember a login: %s", error)

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


def _place(address: str) -> str:
    """The key by which logins of an address are counted: of IPv6, its /64 network.

    :param address: perhaps the whole X-Forwarded-For, as oslo.middleware takes it over. The nearest
        proxy has written its end, and anybody the rest.
    """
    last = address.rpartition(",")[2].strip(' "')
    found = _parsed_address(last)
    if found is None:
        return last
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return str(ipaddress.ip_network((found, _SITE_BITS), strict=False))
        found = found.ipv4_mapped
    return str(found)


def _parsed_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an IP address, with or without a port; None if it is not one."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(text)
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(urlsplit(f"//{text}").hostname or "")
    return None


def _digest(who: Iterable[str]) -> str:
    # Names may be anything, and be long.
    return hashlib.sha256(repr(tuple(who)).encode()).hexdigest()
