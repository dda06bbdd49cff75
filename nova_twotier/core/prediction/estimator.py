"""The interface of all estimators, and the kind that runs the queue forward."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import ClassVar

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction import forward
from nova_twotier.core.prediction.pace import DEDICATED, Pace
from nova_twotier.core.prediction.present import Forecast, Past, Present
from nova_twotier.core.prediction.work_left import work_left


class Estimator(ABC):
    """Predicts starts and ends; deterministic given what it has learned."""

    name: ClassVar[str]
    #: How it predicts, in a sentence for users.
    summary: ClassVar[str]

    @abstractmethod
    def predict(self, present: Present, target: int | None = None) -> dict[int, Forecast]:
        """The forecasts of a queue, by job number.

        :param target: only this job's forecast is needed, which may take less time; the answer has
            it, and may have others. None: of all waiting and running jobs.
        """

    @abstractmethod
    def learn(self, past: Past) -> None:
        """Take note of a job that has ended."""

    def rates(self, present: Present) -> dict[int, float]:
        """How fast each running job advances, in seconds of work per second, by number."""
        return dict.fromkeys(present.snapshot.cluster.runs, 1.0)


class Forward(Estimator):
    """Runs the queue forward; a subclass says how long jobs run, and how they slow each other."""

    def predict(self, present: Present, target: int | None = None) -> dict[int, Forecast]:
        remaining = work_left(present, self.run_time)
        return forward.run(present, remaining, self.pace(present), target)

    @abstractmethod
    def run_time(self, job: Job, user: Hashable, done: float) -> float:
        """Seconds that a job is expected to run on dedicated slots, at least `done`.

        Equal for jobs of one user with the same size, estimate and walltime.

        :param done: seconds of this work that it has done.
        """

    def rates(self, present: Present) -> dict[int, float]:
        cluster = present.snapshot.cluster
        return dict(self.pace(present).on(cluster).placed(list(cluster.runs.values())))

    def pace(self, present: Present) -> Pace:
        """How jobs slow each other down: by default, they do not."""
        return DEDICATED
