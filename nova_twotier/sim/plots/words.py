"""The words of a plot: names of metrics with their units, and units of time."""

#: Seconds in a unit, and the span of time (seconds) from which a plot uses it.
UNITS = {
    "days": (86400.0, 3 * 86400.0),
    "h": (3600.0, 3 * 3600.0),
    "min": (60.0, 180.0),
    "s": (1.0, 0.0),
}

LABELS = {
    "utilisation": "CPU utilisation (fraction of busy cycles)",
    "allocation_share": "share of the machine that does work",
    "accept_rate": "accept rate (fraction of the jobs)",
    "accept_rate_one_host": "accept rate of jobs that fit on one host",
}


def label(metric: str) -> str:
    """A column of a summary as the title of an axis: `average_wait_seconds`, `average wait (s)`."""
    if metric in LABELS:
        return LABELS[metric]
    words = metric.replace("_per_job", "_per job")
    if words.endswith("_seconds"):
        words = words.removesuffix("_seconds") + " (s)"
    for statistic in ("p50", "p90", "p99"):
        words = words.replace(f"{statistic}_", f"{statistic[1:]}th percentile of ")
    return words.replace("_", " ")


def unit(seconds: float) -> tuple[str, float]:
    """The unit of time for an axis of this length, and the seconds in it."""
    return next((name, size) for name, (size, since) in UNITS.items() if seconds >= since)
