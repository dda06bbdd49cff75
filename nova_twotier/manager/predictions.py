"""Predicts when the jobs of a pool start and end, beside the polls, and learns how right it was.

A poll only copies what the policy decided on, and only if a prediction is due. All else is done by
a thread that waits for a process of its own, and writes what that has answered. What is learned is
in the database: another manager goes on with it.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor

from oslo_log import log as logging
from sqlalchemy import Row

from nova_twotier.core import prediction
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction.questions import Answer, Question
from nova_twotier.core.prediction.unblocking import enders
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.db import job_counts
from nova_twotier.db import predictions as stored
from nova_twotier.db.models import Job, PoolPrediction
from nova_twotier.db.prediction import LATEST
from nova_twotier.db.predictions import Told
from nova_twotier.db.store import DATABASE_ERRORS, Store
from nova_twotier.db.terms import Deposed
from nova_twotier.manager import scene
from nova_twotier.manager.predictor import KEEP, NoAnswer, Predictor
from nova_twotier.manager.scene import Scene

LOG = logging.getLogger(__name__)

#: Waiting jobs, from the head of the queue, that are predicted.
MOST = 1000
#: Waiting jobs, from the head of the queue, of which it is asked what would let them start now.
NEAR = 20
#: Seconds at least between two predictions, and how many times longer than the last one took.
SOON, SHARE = 5.0, 10.0
#: Predictions are outdated after so many intervals without new ones, and so many seconds.
STALE_INTERVALS, STALE = 3, 300.0
#: Seconds before the last known end in which jobs may have ended that were not seen then.
OVERLAP = 60.0
#: Of the last of those that were predicted, so many tell when those behind them start.
LAST = 100


class Predictions:
    """Makes the predictions of a pool, one after the other.

    :param options: of group `[manager]`; the interval may change at run time.
    :param fence: `fence(session, lock)` raises `Deposed` if another manager leads the pool by now.
    :param judged: called, from another thread, with how many seconds later than it was first told
        a job has started.
    :param threads: by default, one of its own.
    """

    def __init__(
        self,
        options,
        store: Store,
        pool: str,
        policy: Policy,
        fence: Callable[..., None],
        judged: Callable[[float], None] = lambda _error: None,
        threads: Executor | None = None,
    ):
        self._options = options
        self._store = store
        self._pool = pool
        self._policy = policy
        self._fence = fence
        self._judged = judged
        self._threads = threads or ThreadPoolExecutor(1)
        self._predictor = Predictor(options.estimator)
        self._future: Future | None = None
        #: When the last prediction was begun, of which state, and the seconds that it took.
        self._at = -math.inf
        self._of: Snapshot | None = None
        self._took = 0.0
        #: The work of the jobs of the last scene, and in how many seconds of their runs.
        self._done: dict[int, tuple[float, float]] = {}
        self._rates: Mapping[int, float] = {}
        #: The last jobs from which it has learned, and since when it looks for others.
        self._learned: set[int] = set()
        self._since: float | None = None
        #: Numbers of the jobs that were giving up their servers then.
        self._ending = set[int]()
        #: The last trouble that was logged.
        self._trouble = ""
        self._closed = False

    def poll(self, after: Snapshot | None, jobs: Mapping[int, Job], now: float) -> None:
        """Begin a prediction if one is due.

        :param after: the state after the last decision; None: nothing is decided at present.
        :param jobs: that are not over, by number.
        """
        if after is None or not self._due(after, now):
            return
        self._at, self._of = now, after
        taken = scene.take(after, jobs, now, MOST)
        self._future = self._threads.submit(self._predict, taken)

    def close(self) -> None:
        """Give up the prediction under way."""
        self._closed = True
        self._predictor.stop()
        if isinstance(self._threads, ThreadPoolExecutor):
            self._threads.shutdown()
        self._predictor.close()

    def _due(self, after: Snapshot, now: float) -> bool:
        interval = self._options.prediction_interval
        if not interval or (self._future is not None and not self._future.done()):
            return False
        pause = max(SOON, SHARE * self._took)
        return now >= self._at + (interval if after is self._of else min(interval, pause))

    def _predict(self, taken: Scene) -> None:
        began = time.monotonic()
        trouble = ""
        try:
            self._learn_and_predict(taken)
        except Deposed:
            pass  # the loop finds out by itself
        except (NoAnswer, *DATABASE_ERRORS) as error:
            trouble = str(error).partition("\n")[0] or type(error).__name__
            if trouble != self._trouble and not self._closed:
                LOG.warning("The jobs of pool %s were not predicted: %s", self._pool, trouble)
        except Exception as error:
            trouble = repr(error)
            if trouble != self._trouble:
                LOG.exception("The jobs of pool %s were not predicted", self._pool)
        self._trouble = trouble
        self._took = time.monotonic() - began

    def _learn_and_predict(self, taken: Scene) -> None:
        with self._store.reading() as session:
            if any(seen.ran and number not in self._done for number, seen in taken.seen.items()):
                # Who has just been preempted was in no scene while it left its slots.
                self._done = stored.done(session, self._pool) | self._done
            since, most = (0.0, KEEP) if self._since is None else (self._since, None)
            # Read first: polls go on, and one that is done in between would be missed.
            ending = job_counts.ending(session, self._pool)
            late = stored.ended_late(session, self._pool, since, self._ending | ending)
            rows = stored.ended(session, self._pool, since, most)
        self._ending, read = ending, [*late, *rows]
        if not self._rates:
            # Nothing ran when it last predicted, or another manager did: jobs have run on since.
            estimator = prediction.get(self._options.estimator)
            self._rates = estimator.rates(taken.present(self._policy, {}))
        new = [row for row in read if row.number not in self._learned]
        over = {row.number: self._work_of(row) for row in new}
        self._learned = {row.number for row in read}
        if rows:
            # If the clock was set back, the ends of earlier jobs are in the future.
            self._since = min(rows[-1].finished_at, taken.now) - OVERLAP
        # Also forgets the jobs that are not in the scene any more.
        self._done = {
            number: self._work(number, seen.ran)
            for number, seen in taken.seen.items()
            if seen.ran or number in self._done
        }
        done = {number: work for number, (work, _ran) in self._done.items() if work}
        ended = [stored.past(row, over[row.number]) for row in new]
        answer = self._predictor.ask(Question(ended, taken.present(self._policy, done), NEAR))
        self._rates = answer.rates
        followed = (row for row in new if row.work is not None and row.ran != row.run_before)
        self._write(taken, answer, {r.number: (over[r.number], r.run_before) for r in followed})

    def _work(self, number: int, ran: float) -> tuple[float, float]:
        """The work that a job has done in the first `ran` seconds of its run, and `ran`."""
        recorded = self._done.get(number, (0.0, 0.0))
        return stored.work_done(recorded, ran, self._rates.get(number, 1.0)), ran

    def _work_of(self, row: Row) -> float:
        """The work of a job that has ended; what nobody followed counts as run at full speed."""
        if row.number not in self._done and row.work is not None:
            self._done[row.number] = row.work, row.ran
        return self._work(row.number, row.run_before)[0]

    def _write(self, taken: Scene, answer: Answer, over: Mapping[int, tuple[float, float]]) -> None:
        now, pool, name = taken.now, self._pool, self._options.estimator
        with self._store.transaction() as session:
            learned, errors = stored.learn(session, pool, name, self._policy.name)
            stored.record_work(session, over)
            stored.write(session, pool, now, self._told(taken, answer), learned)
            lasting = max(STALE, STALE_INTERVALS * self._options.prediction_interval)
            session.merge(
                PoolPrediction(
                    pool=pool,
                    made_at=now,
                    valid_until=now + lasting,
                    later_than=_later_than(taken, answer),
                    estimator=name,
                    calibration=learned.dump(),
                )
            )
            session.flush()
            self._fence(session, lock=True)
        for error in errors:
            self._judged(error)

    def _told(self, taken: Scene, answer: Answer) -> list[Told]:
        ending = enders(answer.forecasts)
        queue, told = taken.snapshot.queue, []
        for number, forecast in answer.forecasts.items():
            seen = taken.seen.get(number)
            if seen is None:
                continue
            after = ending.get(forecast.start) if number in queue else None
            known = after is not None and after in taken.seen and forecast.start < math.inf
            work, ran = self._done.get(number, (0.0, 0.0))
            told.append(
                Told(
                    number,
                    forecast,
                    seen.queued,
                    first=number in queue and not seen.started,
                    starts_after=after if known else None,
                    smaller=answer.smaller.get(number),
                    work=work,
                    ran=ran,
                )
            )
        return told


def _later_than(taken: Scene, answer: Answer) -> float | None:
    """When those behind the predicted jobs start at the earliest, probably; None without any."""
    last = [job.number for job in taken.snapshot.queue][-LAST:]
    starts = [answer.forecasts[each].start for each in last if each in answer.forecasts]
    known = [start for start in starts if start <= LATEST]
    return statistics.median_low(known) if taken.beyond and known else None
