"""Errors of the replay; the message says what to do."""


class ReplayError(Exception):
    """The replay cannot go on."""


class UsageError(ReplayError):
    """It was asked for something that cannot be."""
