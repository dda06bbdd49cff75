"""Gauges that both the API and the manager export.

The API counts in the database, a manager in its last poll.
"""

from collections.abc import Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric


def jobs(counts: Mapping[tuple[str, str], tuple[int, int]]) -> Iterator[Metric]:
    """
    :param counts: numbers of jobs and of their processes by pool and state.
    """
    labels = ["pool", "state"]
    found = GaugeMetricFamily("twotier_jobs", "Jobs by state", labels=labels)
    processes = GaugeMetricFamily(
        "twotier_processes", "Processes of the jobs by the state of the job", labels=labels
    )
    for labelled, (number, size) in counts.items():
        found.add_metric(labelled, number)
        processes.add_metric(labelled, size)
    yield from (found, processes)


def waiting(counts: Mapping[tuple[str, str], int]) -> Iterator[Metric]:
    """
    :param counts: numbers of queued jobs by pool and the code of their reason.
    """
    found = GaugeMetricFamily(
        "twotier_waiting_jobs",
        "Queued jobs by the code of the reason why they wait",
        labels=["pool", "reason"],
    )
    for labelled, number in counts.items():
        found.add_metric(labelled, number)
    yield found


def polled(times: Mapping[str, float]) -> Iterator[Metric]:
    """
    :param times: when the leader of each pool last finished a poll, in seconds since the epoch.
    """
    found = GaugeMetricFamily(
        "twotier_manager_poll_timestamp_seconds",
        "When the leader last finished a poll, in seconds since the epoch; 0: unknown",
        labels=["pool"],
    )
    for pool, at in times.items():
        found.add_metric([pool], at)
    yield found
