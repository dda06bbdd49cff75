"""What a policy is told of run times: users' estimates, the truth, or predictions from the past.

As the queue manager does it, each job is predicted once, when it arrives. One that outruns its
prediction is predicted anew, step by step, and the policy decides again each time.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from heapq import heappop, heappush

from nova_twotier.core.actions import Action, Evict, Kill, Start
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction import run_times
from nova_twotier.core.prediction.history import History
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.sim.execution import Execution

USER, EXACT, MISSING = "user", "exact", "missing"
#: The users' estimates, corrected when they are outrun, as predictions are.
CORRECTED = "user-corrected"
LAST_TWO, TWICE_LAST_TWO, HISTORICAL = "last-two", "twice-last-two", "historical"
#: As historical, but no user gives an estimate.
MISSING_HISTORICAL = "missing-historical"
KNOWN = (
    *(USER, CORRECTED, EXACT, MISSING, LAST_TWO, TWICE_LAST_TWO),
    *(HISTORICAL, MISSING_HISTORICAL),
)


class InvalidEstimates(ValueError):
    """A source of estimates that does not exist; the message lists those that do."""


class Predictor(ABC):
    """Predicts run times from those of the jobs that have ended, all in seconds."""

    #: Whether a job is expected to run for no longer than its user said.
    bounded = True

    @abstractmethod
    def predict(self, job: Job, user: Hashable) -> float | None:
        """The run time of a job that arrives; None if too little is known."""

    @abstractmethod
    def learn(self, job: Job, user: Hashable, ran: float) -> None:
        """Take note of a job that has ended."""


class Asked(Predictor):
    """The user's own estimate, raised when the job outruns it."""

    bounded = False

    def predict(self, job: Job, user: Hashable) -> float | None:
        return job.estimate

    def learn(self, job: Job, user: Hashable, ran: float) -> None:
        pass


class LastTwo(Predictor):
    """A multiple of the mean of the last two run times of the user (Tsafrir 2007)."""

    def __init__(self, factor: float):
        self._factor = factor
        self._last: dict[Hashable, tuple[float, ...]] = {}

    def predict(self, job: Job, user: Hashable) -> float | None:
        last = self._last.get(user, ())
        return None if len(last) < 2 else self._factor * sum(last) / 2

    def learn(self, job: Job, user: Hashable, ran: float) -> None:
        if user is not None:
            self._last[user] = (*self._last.get(user, ()), ran)[-2:]


class Similar(Predictor):
    """A quantile of the run times of the most similar past jobs."""

    def __init__(self, quantile: float = run_times.MEDIAN):
        self._quantile = quantile
        self._history = History()

    def predict(self, job: Job, user: Hashable) -> float | None:
        found = run_times.similar(self._history, job, user, self._quantile)
        return None if found is None else found.seconds

    def learn(self, job: Job, user: Hashable, ran: float) -> None:
        self._history.add(job, user, ran)


def check(text: str) -> str:
    """A source of estimates: one of `KNOWN`; those from history also with a quantile.

    :raises InvalidEstimates: if it is none.
    """
    _made(text)
    return text


def is_missing(text: str) -> bool:
    """Whether users give no estimates."""
    return text.startswith(MISSING)


def predicts(text: str) -> bool:
    """Whether a job that outruns what is told of it is predicted anew."""
    return _made(text) is not None


def needs_users(text: str) -> bool:
    """Whether nothing is predicted of jobs whose users are not known."""
    return text in (LAST_TWO, TWICE_LAST_TWO)


def _made(text: str) -> Predictor | None:
    name, colon, quantile = text.partition(":")
    if name in (HISTORICAL, MISSING_HISTORICAL):
        try:
            share = float(quantile) if colon else run_times.MEDIAN
        except ValueError:
            share = math.nan
        if not 0 < share < 1:
            raise InvalidEstimates(
                f"estimates are {text!r}; give a quantile between 0 and 1, e.g. {name}:0.8"
            )
        return Similar(share)
    if text not in KNOWN:
        raise InvalidEstimates(f"estimates are {text!r}; choose one of: {', '.join(KNOWN)}")
    if text == CORRECTED:
        return Asked()
    return LastTwo(2.0 if text == TWICE_LAST_TWO else 1.0) if text.endswith(LAST_TWO) else None


class Predictions:
    """Follows a run in which policies are told predictions.

    :param users: of the jobs, by number; absent: not known.
    :param admit: of the policy, see `Policy.admit`.
    :param rerank: whether the policy orders a job anew that outruns its prediction; if not, it
        keeps the rank that it had when it arrived.
    """

    def __init__(
        self,
        predictor: Predictor,
        users: Mapping[int, Hashable],
        admit: Callable[[Job], Job],
        *,
        rerank: bool = True,
    ):
        self._predictor = predictor
        self._users = users
        self._admit = admit
        self._rerank = rerank
        #: Each job as it was submitted, by number, until it ends; and what was predicted first.
        self._asked: dict[int, Job] = {}
        self._predicted: dict[int, float] = {}
        #: Since when each running job runs, and the seconds of its runs before.
        self._since: dict[int, float] = {}
        self._before: dict[int, float] = {}
        #: When jobs will have outrun what is expected of them; outdated ones are skipped.
        self._due: list[tuple[float, int]] = []

    @classmethod
    def of(
        cls, text: str, users: Mapping[int, Hashable], policy: Policy, *, rerank: bool = True
    ) -> "Predictions | None":
        """None: nothing is predicted.

        :param text: as `check` has it.
        """
        predictor = _made(text)
        return None if predictor is None else cls(predictor, users, policy.admit, rerank=rerank)

    def place(self, job: Job) -> Job:
        """The job with its prediction, as policies are shown it from its arrival on."""
        self._asked[job.number] = job
        predicted = self._predictor.predict(job, self._user(job))
        if predicted is None:
            return job
        predicted = self._predicted[job.number] = min(predicted, job.expected)
        return replace(job, estimate=predicted)

    def carried_out(self, actions: Iterable[Action], now: float) -> None:
        """The jobs have started and left, as a decision says."""
        for action in actions:
            number = action.job.number
            if isinstance(action, Start):
                self._since[number] = now
                self._expect(action.job)
            elif isinstance(action, Evict):
                self._before[number] = self._ran(number, now)
                del self._since[number]
            elif isinstance(action, Kill):
                self._before.pop(number, None)
                del self._since[number]

    def left(self, job: Job, now: float) -> None:
        """A job has ended."""
        number = job.number
        ran = self._ran(number, now)
        asked = self._asked.pop(number)
        self._predictor.learn(asked, self._user(asked), ran)
        del self._since[number]
        self._before.pop(number, None)
        self._predicted.pop(number, None)

    @property
    def next_due(self) -> float:
        """When the next job will have outrun what is expected of it; infinite if none will."""
        due = self._due
        while due and due[0][1] not in self._since:
            heappop(due)
        return due[0][0] if due else math.inf

    def correct(self, snapshot: Snapshot, running: Mapping[int, Execution], now: float) -> bool:
        """Expect more of the jobs that have outrun what was expected of them.

        :returns: whether the policy may decide otherwise now.
        """
        changed = False
        while self.next_due <= now:
            number = heappop(self._due)[1]
            execution = running[number]
            job, began = execution.job, self._since[number] - self._before.get(number, 0.0)
            first, most = self._predicted[number], self._most(number)
            expected = run_times.corrected(first, began, now, most)
            if expected <= job.expected:
                continue
            estimate = expected if expected < math.inf else None
            anew = replace(job, estimate=estimate)
            if self._rerank:
                anew = self._admit(replace(anew, rank=None))
            until = snapshot.cluster.runs[number].until
            changed |= until < math.inf or anew.order != job.order
            snapshot.cluster.show_anew(anew, began + expected if until < math.inf else until)
            execution.job = anew
            self._expect(anew)
        return changed

    def _expect(self, job: Job) -> None:
        """Note when a running job will have outrun what is expected of it, and may run on."""
        number = job.number
        if number in self._predicted and job.expected < self._most(number):
            began = self._since[number] - self._before.get(number, 0.0)
            heappush(self._due, (began + job.expected, number))

    def _most(self, number: int) -> float:
        return self._asked[number].expected if self._predictor.bounded else math.inf

    def _ran(self, number: int, now: float) -> float:
        return self._before.get(number, 0.0) + now - self._since[number]

    def _user(self, job: Job) -> Hashable:
        return self._users.get(job.number)
