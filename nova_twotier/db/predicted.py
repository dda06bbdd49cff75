"""The columns that say how long a job will run whose owner names no run time."""

import math

from sqlalchemy.orm import Mapped

from nova_twotier.core.prediction import run_times
from nova_twotier.core.prediction.run_times import RunTime

#: Seconds that an estimate counts at least: jobs that take no time could pass the head of EASY's
#: queue for ever.
SHORTEST = 1.0


class Predicted:
    """Maps the run time of similar finished jobs, which counts while there is no estimate."""

    estimate: Mapped[float | None]
    walltime: Mapped[float | None]
    run_before: Mapped[float]
    #: Seconds, as it was predicted when the job joined the queue; None: nothing was known.
    predicted: Mapped[float | None]
    #: How many similar jobs say so; None: it was not predicted, 0: nothing was known.
    predicted_from: Mapped[int | None]

    #: For how long it has run by now. Not in the database: code that knows the time sets it.
    _ran = 0.0

    def predict(self, found: RunTime | None) -> None:
        """Fix the prediction; None: there is no similar job."""
        self.predicted_from = 0 if found is None else found.jobs
        if found is not None:
            most = math.inf if self.walltime is None else self.walltime
            self.predicted = round(min(found.seconds, most), 3)
        self.__dict__.pop("core", None)

    @property
    def counts_as_predicted(self) -> bool:
        """Whether its run time is the predicted one."""
        return self.estimate is None and self.predicted is not None

    @property
    def expected_run_time(self) -> float | None:
        """Seconds: its estimate, or what is predicted, corrected if it has outrun that."""
        if self.estimate is not None:
            return max(SHORTEST, self.estimate)
        if self.predicted is None:
            return None
        most = math.inf if self.walltime is None else self.walltime
        ran = max(self._ran, self.run_before)
        expected = run_times.corrected(self.predicted, 0.0, ran, most)
        return expected if expected < math.inf else None

    def has_run(self, seconds: float) -> bool:
        """Note how long it has run by now.

        :returns: whether policies are shown another run time than before.
        """
        if not self.counts_as_predicted:
            return False
        self._ran = seconds
        shown = self.__dict__.get("core")
        if shown is None or shown.estimate == self.expected_run_time:
            return False
        del self.__dict__["core"]
        return True
