"""Cost of accounting: python benchmarks/usage.py [--places N]

Prints the milliseconds in which a SQLite database with a million recorded stays (jobs of 1 to 32
processes of 50 projects over three years, an hour each on average) answers `GET /v1/usage`: the
last month and the last year, by several things, with all of the history and with half of it. Then
how long a purge of the oldest 1,000 jobs takes. Figures, not tests.
"""

import argparse
import random
import tempfile
import time
import uuid
from collections.abc import Collection

from sqlalchemy import delete, func, insert, select

from nova_twotier.core.qos import Qos
from nova_twotier.db import purge, usage
from nova_twotier.db.models import Job, Place
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store
from nova_twotier.db.usage import By, Question, Span

DAY = 86400.0
YEARS = 3 * 365 * DAY
END = 1.79e9
QUESTIONS: tuple[tuple[Collection[By], str | None], ...] = (
    ((), None),
    ((), "p1"),
    ((By.PROJECT,), None),
    ((By.QOS,), None),
    ((By.USER, By.DAY), "p1"),
    ((By.PROJECT, By.MONTH), None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--places", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many answers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        store = Store(f"sqlite:///{directory}/usage.sqlite")
        fill(store, options.places)
        print(f"{'places':>9}{'days':>6}{'by':>16}{'project':>9}{'ms':>9}")
        show(store, options.rounds)
        half = select(Job.number).where(Job.finished_at < END - YEARS / 2)
        with store.transaction() as session:
            session.execute(delete(Place).where(Place.job.in_(half)))
            session.execute(delete(Job).where(Job.number.in_(half)))
        show(store, options.rounds)
        with store.reading() as session:
            oldest = select(Job.finished_at).order_by(Job.finished_at).offset(1000).limit(1)
            before = session.scalar(oldest) or 0.0
        began = time.perf_counter()
        purged = purge.purge(store, before, pause=lambda _seconds: None)
        seconds = time.perf_counter() - began
        print(f"purge of {purged.jobs} jobs with {purged.places} places: {1000 * seconds:.0f} ms")
        store.close()


def fill(store: Store, places: int) -> None:
    rng = random.Random(1)  # noqa: S311
    made = number = 0
    while made < places:
        jobs, stays = [], []
        while made < places and len(stays) < 20_000:
            number, size = number + 1, 2 ** rng.randrange(6)
            since = END - YEARS + YEARS * made / places
            until = min(END, since + rng.expovariate(1 / 3600))
            jobs.append(
                {
                    "number": number,
                    "uuid": str(uuid.UUID(int=rng.getrandbits(128))),
                    "size": size,
                    "cpu": [],
                    "submitted_at": since,
                    "started_at": since,
                    "finished_at": until,
                    "discarded_at": until if rng.random() < 0.05 else None,
                    "state": JobState.FINISHED,
                    "project_id": f"p{rng.randrange(50)}",
                    "user_id": f"u{rng.randrange(300)}",
                    "qos": rng.choice(tuple(Qos)),
                }
            )
            stay = {"job": number, "host": f"host{rng.randrange(100)}", "since": since}
            stay |= {"until": until, "tier": rng.choice(("fg", "bg")), "qos": jobs[-1]["qos"]}
            stays += [
                {**stay, "process": process, "server": f"{number}-{process}"}
                for process in range(size)
            ]
            made += size
        with store.transaction() as session:
            session.execute(insert(Job), jobs)
            session.execute(insert(Place), stays)


def show(store: Store, rounds: int) -> None:
    with store.reading() as session:
        places = session.scalar(select(func.count()).select_from(Place))
    for days in (30, 365):
        for by, project in QUESTIONS:
            question = Question(period=Span(END - days * DAY, END), by=by, project_id=project)
            best = min(_seconds(store, question) for _round in range(rounds))
            words = ",".join(by) or "-"
            print(f"{places:9}{days:6}{words:>16}{project or 'all':>9}{1000 * best:9.0f}")


def _seconds(store: Store, question: Question) -> float:
    began = time.perf_counter()
    with store.reading() as session:
        usage.usage(session, question, 10_000)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
