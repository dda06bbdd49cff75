"""Errors of the replay; the message says what to do."""


class ReplayError(Exception):
    """The replay cannot continue."""


class UsageError(ReplayError):
    """The user asked for something impossible."""
