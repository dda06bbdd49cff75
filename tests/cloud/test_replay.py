"""Jobs of a real trace on a real Nova, under the queue manager."""

import io
import os
import signal
import subprocess
import time

import pytest
from rich.console import Console

from nova_twotier import conf as configuration
from nova_twotier.db.models import Leader
from nova_twotier.db.states import JobState
from nova_twotier.db.store import open_store
from nova_twotier.tools.replay.run import EXCERPT, Settings, replay
from nova_twotier.tools.replay.supervisor import Supervisor, python
from tests.cloud.waiting import wait_for

pytestmark = pytest.mark.cloud

JOBS = 8


@pytest.fixture
def conf_file(fakecloud, tmp_path):
    """The manager's configuration, with a queue of its own."""
    path = tmp_path / "state.conf"
    path.write_text(f"[DEFAULT]\nstate_path = {tmp_path}/state\n")
    return [f"--config-file={fakecloud.info()['files']['manager_conf']}", f"--config-file={path}"]


def test_a_trace_is_played(conf_file, tmp_path):
    said = []
    argv = python("nova_twotier.cmd.manager", *conf_file)
    settings = Settings(trace=EXCERPT, out=tmp_path / "out", jobs=JOBS, timeout=240)
    with Supervisor("manager", argv, tmp_path / "manager.log", said.append) as manager:
        conf = configuration.load(conf_file, "test")
        console = Console(file=io.StringIO())
        done = replay(conf, settings, console, watch=lambda _player: manager.check())
    assert said == []
    assert done["totals"]["finished"] == JOBS
    broken = [name for name, found in done["invariants"].items() if not found["holds"]]
    assert broken == []
    assert (tmp_path / "out" / "gantt.png").stat().st_size > 10_000
    assert (tmp_path / "out" / "gantt.html").stat().st_size > 10_000


def test_a_standby_takes_over(conf_file, tmp_path):
    """Two managers; the one that leads is killed while jobs run, and not started again."""
    with (tmp_path / "state.conf").open("a") as conf:
        conf.write("[coordination]\nlease = 10\n")
    argv = python("nova_twotier.cmd.manager", *conf_file)
    conf = configuration.load(conf_file, "test")
    with (tmp_path / "leader.log").open("wb") as log:
        leader = subprocess.Popen(argv, stdout=log, stderr=log)
    killed = []

    def kill(_player):
        standby.check()
        if not killed and any(job.state == JobState.RUNNING for job in store.jobs()):
            os.kill(leader.pid, signal.SIGKILL)
            leader.wait()
            killed.append(time.time())

    try:
        wait_for(lambda: "leads pool default" in (tmp_path / "leader.log").read_text(), "a leader")
        store = open_store(conf)
        said, standby_log = [], tmp_path / "standby.log"
        with Supervisor("standby", argv, standby_log, said.append) as standby:
            wait_for(lambda: "Standing by" in standby_log.read_text(), "a standby")
            settings = Settings(trace=EXCERPT, out=tmp_path / "out", jobs=JOBS, timeout=240)
            done = replay(conf, settings, Console(file=io.StringIO()), watch=kill)
        with store.reading() as session:
            led = session.get(Leader, "default")
        store.close()
    finally:
        leader.kill()
        leader.wait()
    assert said == []
    assert led.term == 2
    assert led.since - killed[0] < 2 * conf.coordination.lease
    assert done["totals"]["finished"] == JOBS
    broken = [name for name, found in done["invariants"].items() if not found["holds"]]
    assert broken == []
