"""The README's first command, with a few jobs: what it starts, plays and draws is all there."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.cloud


def test_a_few_jobs(tmp_path):
    argv = [sys.executable, "-m", "nova_twotier.tools.demo", f"--dir={tmp_path}"]
    done = subprocess.run(
        [*argv, "--jobs=4", "--policies", "fcfs"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert "/board shows this queue in a browser" in text, text
    assert "✓ every job finished exactly once, with its work done" in text, text
    assert (tmp_path / "fcfs" / "gantt.png").stat().st_size > 0
