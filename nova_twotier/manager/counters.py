"""What the polls of a queue manager count, for all pools that it serves."""

from prometheus_client import CollectorRegistry, Counter, Histogram

HOUR, DAY = 3600, 86400
#: Upper bounds of histograms, in seconds: of waits, of operations, and of the phases of a poll.
WAITS = (
    *(1, 10, 60, 300, 900, 1800, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 12 * HOUR),
    *(DAY, 2 * DAY, 4 * DAY, 7 * DAY, 14 * DAY),
)
OPERATIONS = (0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, HOUR)
PHASES = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SLOWDOWNS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


class Counters:
    """Counters and histograms of this process; each has the label `pool`, and those named here."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.submitted = self._counter(
            "twotier_jobs_submitted", "Jobs that the leader saw for the first time"
        )
        self.started = self._counter(
            "twotier_jobs_started",
            "Starts of jobs: from the beginning (started), or where they were saved (restored)",
            "kind",
        )
        self.ended = self._counter("twotier_jobs_ended", "Jobs that ended, by how", "state")
        self.preemptions = self._counter(
            "twotier_preemptions",
            "Jobs that lost their slots with their state saved (evicted), or with it lost (killed)",
            "kind",
        )
        self.moves = self._counter(
            "twotier_moves",
            "Jobs of which processes swapped tiers in place, or migrated to other hosts",
            "kind",
        )
        self.waits = self._histogram(
            "twotier_wait_seconds", "Time in the queue until a job first started", WAITS
        )
        self.slowdowns = self._histogram(
            "twotier_bounded_slowdown",
            "Bounded slowdown of jobs that finished: time from the queue to the end, divided by "
            "the run time or 10 s, if that is longer",
            SLOWDOWNS,
        )
        self.operations = self._histogram(
            "twotier_operation_seconds",
            "Time from the first step of an operation to its end, by kind and result",
            OPERATIONS,
            *("kind", "result"),
        )
        self.phases = self._histogram(
            "twotier_decision_seconds",
            "Time of a phase of a poll: observe Nova and Placement, read the database, advance "
            "operations, decide by the policy, write the database",
            PHASES,
            "phase",
        )
        self.process_seconds = self._counter(
            "twotier_process_seconds", "Time that processes of jobs held slots, by tier", "tier"
        )
        self.lost = self._counter(
            "twotier_lost_process_seconds",
            "Time that processes held slots for work that was lost",
        )
        self.start_errors = self._histogram(
            "twotier_predicted_start_error_seconds",
            "How much earlier or later a job started than was first predicted",
            WAITS,
            "direction",
        )

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, ("pool", *labels), registry=self.registry)

    def _histogram(
        self, name: str, text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(name, text, ("pool", *labels), registry=self.registry, buckets=buckets)
