"""The answer of a check; a warning or a failure says what to set, and where."""

from oslo_upgradecheck.upgradecheck import Code, Result


def success(details: str | None = None) -> Result:
    return Result(Code.SUCCESS, details)


def warning(details: str) -> Result:
    """It works, but not as well as it could."""
    return Result(Code.WARNING, details)


def failure(details: str) -> Result:
    """Two-tier requests would not be served, or not be kept apart."""
    return Result(Code.FAILURE, details)
