"""The simulator, compiled as an installation may have it."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import testtools

from tests.unit.sim.schedules import schedules

HERE = pathlib.Path(__file__).parents[3]
JOBS = 150
TOOLS = shutil.which("cc") and importlib.util.find_spec("setuptools")


@unittest.skipUnless(TOOLS, "needs a C compiler and setuptools")
class TestCompiled(testtools.TestCase):
    def test_the_same_schedules(self):
        there = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, there)
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(HERE / "nova_twotier", f"{there}/nova_twotier", ignore=ignored)
        for name in ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(HERE / name, there)
        # Not optimised, it takes less time to compile, and comes to the same.
        self.run_there(there, "setup.py", "build_ext", "--inplace", NOVA_TWOTIER_COMPILE="0")
        module, *compiled = self.run_there(
            there, "-m", "tests.unit.sim.schedules", str(JOBS), PYTHONPATH=str(HERE)
        )
        self.assertTrue(module.startswith(there) and module.endswith(".so"), module)
        self.assertEqual(list(schedules(JOBS)), compiled)

    def run_there(self, there, *words, **environment):
        done = subprocess.run(
            [sys.executable, *words],
            cwd=there,
            env=os.environ | environment,
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout.splitlines()
