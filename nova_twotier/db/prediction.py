"""The tables of predictions: when jobs start and end, and how right earlier predictions were."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from nova_twotier.db.base import Base

#: How much of the first prediction of a job has been compared with what came.
NOTHING, START, ALL = 0, 1, 2
#: The latest time, since dates end with the year 9999: what is predicted for later counts as never.
LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()

#: The columns that the first prediction of a job has, too, as `first_...`.
TIMES = ("made_at", "start", "start_low", "start_high", "finish", "finish_low", "finish_high")
#: All columns of either table that are times.
JOB_TIMES = (*TIMES, *(f"first_{name}" for name in TIMES))
POOL_TIMES = ("made_at", "valid_until", "later_than")


class Prediction(Base):
    """The latest prediction of a job, and the first one that was told while it waited.

    Times are seconds since the epoch; None: never, or of an interval, that too little is known.
    """

    __tablename__ = "prediction"

    #: No foreign key: MariaDB would lock the jobs meanwhile, and so hold up polls.
    job: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    made_at: Mapped[float]
    start: Mapped[float | None]
    start_low: Mapped[float | None]
    start_high: Mapped[float | None]
    finish: Mapped[float | None]
    finish_low: Mapped[float | None]
    finish_high: Mapped[float | None]
    #: The number of the job at whose end it starts; None: not known.
    starts_after: Mapped[int | None]
    #: The largest size with which it would start now; None: with none, or not known.
    smaller: Mapped[int | None]
    #: Seconds of work on dedicated slots that it has done in the first `ran` seconds of its run.
    work: Mapped[float]
    ran: Mapped[float]
    first_made_at: Mapped[float | None]
    first_start: Mapped[float | None]
    first_start_low: Mapped[float | None]
    first_start_high: Mapped[float | None]
    first_finish: Mapped[float | None]
    first_finish_low: Mapped[float | None]
    first_finish_high: Mapped[float | None]
    #: `NOTHING`, `START` or `ALL`.
    judged: Mapped[int] = mapped_column(index=True)


class PoolPrediction(Base):
    """The latest predictions of a pool's queue, and what has come of the earlier ones."""

    __tablename__ = "pool_prediction"

    pool: Mapped[str] = mapped_column(String(255), primary_key=True)
    made_at: Mapped[float]
    #: After this time they count as outdated.
    valid_until: Mapped[float]
    #: Jobs behind those that were predicted probably start later than this; None: there are none.
    later_than: Mapped[float | None]
    estimator: Mapped[str] = mapped_column(String(64))
    #: The `Calibration.state` of `starts` and of `finishes`, and under which `policy` they were.
    calibration: Mapped[dict[str, Any]]
