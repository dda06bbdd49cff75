"""The historical estimator: jobs wait and run as similar jobs did, whatever the queue is like now.

CISNE (Lérida et al., section 3.1): "a simple replication of the past". A job that has not begun is
expected to take as long from start to end as similar jobs did. Of one that has begun, the work is
known, not the time since its start: it is expected to do as much work as they did, at full speed.
"""

from statistics import median_high

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction import run_times
from nova_twotier.core.prediction.estimator import Estimator
from nova_twotier.core.prediction.history import History
from nova_twotier.core.prediction.present import Forecast, Past, Present
from nova_twotier.core.prediction.work_left import within_request


class Historical(Estimator):
    name = "historical"
    summary = "The median wait and run time of the past jobs most similar to it."

    def __init__(self) -> None:
        self._waits = History()
        self._elapsed = History()
        self._work = History()

    def predict(self, present: Present, target: int | None = None) -> dict[int, Forecast]:
        forecasts = {}
        now = present.now
        for job in present.snapshot.queue:
            if target in (None, job.number):
                waited = now - job.arrival
                waits = self._waits.similar(job, present.user_of(job), beyond=waited)
                start = now + (median_high(waits) - waited if waits else 0.0)
                forecasts[job.number] = Forecast(start, start + self._left(present, job))
        for number, run in present.snapshot.cluster.runs.items():
            if target in (None, number) and number not in present.staying:
                forecasts[number] = Forecast(now, now + self._left(present, run.job))
        return forecasts

    def _left(self, present: Present, job: Job) -> float:
        """Seconds from its start, or from now if it has begun."""
        if (left := present.left.get(job.number)) is not None:
            return left
        done = present.done_by(job)
        history = self._work if done else self._elapsed
        times = run_times.of_similar(history, job, present.user_of(job), beyond=done)
        return (median_high(times) if times else within_request(None, job, done)) - done

    def learn(self, past: Past) -> None:
        self._waits.add(past.job, past.user, past.wait)
        self._elapsed.add(past.job, past.user, past.elapsed)
        self._work.add(past.job, past.user, past.work)
