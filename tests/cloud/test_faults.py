"""The manager is killed, and all else goes wrong: a small part of what `make faults` runs."""

import dataclasses
import os

import pytest

from nova_twotier.tools.faults.scenarios import ALL, KILLS, SCENARIOS
from nova_twotier.tools.faults.trial import Size, Trial

pytestmark = pytest.mark.cloud

#: Of jobs and trouble; another one may find more.
SEED = int(os.environ.get("TWOTIER_FAULTS_SEED") or 1)
#: Seconds for a run, less than a test has: one that is not over then says what is left.
TIMEOUT = 600.0
#: Characters of a log that a failure shows: where CI runs, its files are gone afterwards.
SHOWN = 30_000


def attempt(cloud, scenario, size, directory):
    size = dataclasses.replace(size, timeout=TIMEOUT)
    outcome = Trial(cloud.info(), scenario, size, SEED, directory / "run").run()
    if outcome.problems:
        for log in sorted((directory / "run").glob("*.log")):
            print(f"--- {log.name}", log.read_text()[-SHOWN:], sep="\n")
    logs = f"TWOTIER_FAULTS_SEED={SEED}; logs: {directory / 'run'}, {cloud.layout.logs}"
    assert outcome.problems == [], logs
    return outcome


def test_no_job_is_lost_or_run_twice_when_the_manager_is_killed(fakecloud, tmp_path):
    outcome = attempt(fakecloud, KILLS, Size(jobs=10, kills=6, span=20.0), tmp_path)
    assert outcome.counts["manager killed"] == 6


def test_nor_when_everything_goes_wrong_at_once(fakecloud, tmp_path):
    # The database of a run without a server is a file, which nobody restarts.
    scenario = ALL.without("database")
    size = Size(jobs=6, kills=2, span=15.0, outage=5.0, death=10.0)
    outcome = attempt(fakecloud, scenario, size, tmp_path)
    assert outcome.counts["manager killed"] == 2


def test_a_cell_that_does_not_answer_costs_no_work(fakecloud, tmp_path):
    scenario = dataclasses.replace(SCENARIOS["cell"], mishaps={"cell": 1})
    outcome = attempt(fakecloud, scenario, Size(jobs=4, kills=0, span=10.0), tmp_path)
    assert outcome.counts["cell up"] == 1
    assert (outcome.lost, outcome.doubled, outcome.wasted) == (0, 0, 0)


def test_servers_that_nova_has_forgotten_cost_no_job(fakecloud, tmp_path):
    scenario = dataclasses.replace(SCENARIOS["conductor"], mishaps={"conductor": 1})
    outcome = attempt(fakecloud, scenario, Size(jobs=4, kills=0, span=10.0), tmp_path)
    assert outcome.counts["conductor dead"] == 1
    assert (outcome.lost, outcome.doubled, outcome.wasted) == (0, 0, 0)
