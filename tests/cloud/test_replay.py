"""Jobs of a real trace on a real Nova, while the queue manager is killed again and again."""

import io
import os
import signal
import time

import pytest
from rich.console import Console

from nova_twotier import conf as configuration
from nova_twotier.cmd import manager as manager_command
from nova_twotier.tools.replay.run import EXCERPT, Settings, replay
from nova_twotier.tools.replay.supervisor import Supervisor, python

pytestmark = pytest.mark.cloud

KILL_EVERY = 7.0
KILLS = 3


class Killer:
    """Kills the manager now and then, as the replay looks on."""

    def __init__(self, manager):
        self.manager = manager
        self.kills = 0
        self.next = time.monotonic() + KILL_EVERY

    def __call__(self):
        self.manager.check()
        if self.kills < KILLS and time.monotonic() > self.next:
            os.kill(self.manager.pid, signal.SIGKILL)
            self.kills += 1
            self.next = time.monotonic() + KILL_EVERY


@pytest.fixture
def conf_file(fakecloud, tmp_path):
    """The manager's configuration, with a queue of its own."""
    path = tmp_path / "state.conf"
    path.write_text(f"[DEFAULT]\nstate_path = {tmp_path}/state\n")
    return [f"--config-file={fakecloud.info()['files']['manager_conf']}", f"--config-file={path}"]


def test_no_job_is_lost_or_run_twice_when_the_manager_is_killed(conf_file, tmp_path):
    said = []
    argv = python("nova_twotier.cmd.manager", *conf_file)
    settings = Settings(trace=EXCERPT, out=tmp_path / "out", jobs=12, timeout=240)
    with Supervisor("manager", argv, tmp_path / "manager.log", said.append) as manager:
        killer = Killer(manager)
        conf = configuration.load(conf_file, "test")
        done = replay(conf, settings, Console(file=io.StringIO()), watch=killer)
    assert killer.kills == KILLS
    assert len(said) == KILLS
    assert done["totals"]["finished"] == 12
    broken = [name for name, found in done["invariants"].items() if not found["holds"]]
    assert broken == []
    assert (tmp_path / "out" / "gantt.png").stat().st_size > 10_000
    assert (tmp_path / "out" / "gantt.html").stat().st_size > 10_000


def test_a_second_manager_is_refused(conf_file, tmp_path, capsys):
    argv = python("nova_twotier.cmd.manager", *conf_file)
    lock = tmp_path / "state" / "manager.lock"
    with Supervisor("manager", argv, tmp_path / "manager.log", print):
        deadline = time.monotonic() + 30
        while not (lock.exists() and lock.read_text()):
            assert time.monotonic() < deadline, "the manager does not start"
            time.sleep(0.1)
        assert manager_command.main(conf_file) == 1
    assert "another manager (pid" in capsys.readouterr().err
