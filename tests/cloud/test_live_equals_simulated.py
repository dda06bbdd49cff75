"""Live equals simulated, on a real Nova: a few jobs that make room for one another."""

import pytest

from nova_twotier import conf as configuration
from nova_twotier.tools.replay.supervisor import Supervisor, python
from nova_twotier.tools.replay.verify import verify
from nova_twotier.tools.replay.workload import ReplayJob

pytestmark = pytest.mark.cloud

#: Of 16 slots. The second waits for the foreground in the background; when it gets it, from the
#: third, it closes its slots, and leaves no room for that one.
JOBS = [
    ReplayJob(number, f"job-{number}", submit, runtime, None, size, (cpu,) * size)
    for number, (submit, runtime, size, cpu) in enumerate(
        [(0, 1000, 5, 0.5), (10, 2000, 12, 1.0), (20, 5000, 5, 0.5)], start=1
    )
]


def test_the_same_decisions(fakecloud, tmp_path):
    path = tmp_path / "state.conf"
    path.write_text(f"[DEFAULT]\nstate_path = {tmp_path}/state\n[manager]\npoll_interval = 0.5\n")
    files = [f"--config-file={fakecloud.info()['files']['manager_conf']}", f"--config-file={path}"]
    said = []
    argv = python("nova_twotier.cmd.manager", *files)
    with Supervisor("manager", argv, tmp_path / "manager.log", said.append) as manager:
        verdict = verify(configuration.load(files, "test"), JOBS, watch=manager.check)
    assert said == []
    assert verdict.failures == []
    assert verdict.difference == []
    # Three starts, an eviction, a move and a restart.
    assert verdict.decisions == 6
