"""Results of checks; a warning or a failure says what to set, and where."""

from oslo_upgradecheck.upgradecheck import Code, Result


def success(details: str | None = None) -> Result:
    return Result(Code.SUCCESS, details)


def warning(details: str) -> Result:
    """A result for a deployment that works, but not as well as it could."""
    return Result(Code.WARNING, details)


def failure(details: str) -> Result:
    """A result for a deployment that cannot serve two-tier requests, or not keep them apart."""
    return Result(Code.FAILURE, details)
