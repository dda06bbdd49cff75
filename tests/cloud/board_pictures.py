"""Makes the pictures of the board: `python -m tests.cloud.board_pictures doc`."""

import contextlib
import pathlib
import random
import sys
import tempfile
import time

from playwright.sync_api import sync_playwright
from sqlalchemy import update

from nova_twotier.core.reasons import changes, waits
from nova_twotier.db import terms
from nova_twotier.db.models import Event, PoolPrediction, Prediction
from tests.cloud.board_api import Api, change, happen, run, wait
from tests.cloud.browser import launched

PROJECTS = {"climate": ("ana", "bo"), "fluids": ("chen", "dora"), "genome": ("eli",)}
NAMES = ("ocean", "mesh", "assembly", "sweep", "turbulence", "alignment")
HOUR = 3600


def fill(api):
    """A queue as it may be: some jobs run, more wait. Returns the job to show."""
    chance, now = random.Random(8), time.time()
    jobs = []
    for _each in range(48):
        project = chance.choice(list(PROJECTS))
        token = f"{chance.choice(PROJECTS[project])}:{project}"
        size = chance.choice((1, 2, 4, 8, 16, 32))
        name = f"{chance.choice(NAMES)}-{chance.randrange(100)}"
        cpu = [round(chance.uniform(0.3, 1), 2) for _process in range(size)]
        jobs.append(api.submit(token, size=size, name=name, estimate=2 * HOUR, cpu=cpu))
    for number, job in enumerate(jobs):
        change(api.store, job, submitted_at=now - HOUR * (len(jobs) - number) / 9)
    started, waiting = jobs[:12], jobs[12:]
    for number, job in enumerate(started):
        hosts = [f"node{chance.randrange(40):02}" for _process in range(job["size"])]
        run(api.store, job, hosts, tier="bg" if number % 4 == 3 else "fg", since=now - HOUR)
    for number, job in enumerate(waiting):
        size = job["size"]
        idle, later, free = min(number % 5, size - 1), 2, min(2, size - 1)
        reason = waits.SLOTS(size=size, idle=idle, later=later, open=free)
        wait(api.store, job, reason)
    predict(api, waiting, started[0]["number"])
    victim = waiting[0]
    change(api.store, victim, evictions=1, started_at=now - HOUR, run_before=1380.0)
    with api.store.transaction() as session:
        session.execute(update(Event).values(at=now - 4 * HOUR))
    happen(api.store, victim, "started", at=now - HOUR, detail="in the background")
    happen(
        api.store, victim, "preempted", changes.PREEMPTED(started[0]["number"]), at=now - 0.6 * HOUR
    )
    return victim


def predict(api, waiting, ahead):
    now = time.time()
    terms.begin(api.store, "default", "manager")
    with api.store.transaction() as session:
        session.add(
            PoolPrediction(
                pool="default",
                made_at=now,
                valid_until=now + HOUR,
                estimator="sdpn",
                calibration={"starts": [[], []], "finishes": [[], []]},
            )
        )
        for place, job in enumerate(waiting):
            start = now + 400 * (place + 1)
            row = Prediction(
                job=job["number"], made_at=now, work=0.0, ran=0.0, judged=0, starts_after=ahead
            )
            row.start, row.start_low, row.start_high = start, start - 90, start + 240 * (place + 1)
            row.finish = start + 2 * HOUR
            row.finish_low, row.finish_high = row.finish - HOUR, row.finish + HOUR
            session.add(row)
            ahead = job["number"]


def main(target):
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        api = Api(directory, coordination={"lease": 24 * HOUR})
        stack.callback(api.close)
        api.start()
        api.wait()
        job = fill(api)
        playwright = stack.enter_context(sync_playwright())
        browser = stack.enter_context(launched(playwright))
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": 1180, "height": 720}, color_scheme=scheme, locale="en-GB"
            )
            page.goto(f"{api.url}/board#/queue")
            page.get_by_text("expected in").first.wait_for()
            page.wait_for_load_state("networkidle")
            page.screenshot(path=target / f"board-queue-{scheme}.png")
            page.goto(f"{api.url}/board#/job/{job['uuid']}")
            page.get_by_text("preempted").first.wait_for()
            page.screenshot(path=target / f"board-job-{scheme}.png")
            page.close()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
