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
#: Tests of what has met objects that mypyc does not take as Python does. Others define policies or
#: clusters of their own, which compiled classes do not allow.
TESTS = (
    *("core/prediction", "core/test_pickling.py", "core/test_policies.py"),
    *("core/test_slot_assignment.py", "manager/test_predictions.py"),
    *("sim/test_cli.py", "sim/test_cli_mistakes.py", "sim/test_cli_plots.py"),
    *("sim/test_cli_what_if.py", "sim/test_same_results.py", "sim/test_shared.py"),
    *("sim/test_simulation.py", "sim/test_sweep.py::TestRun", "sim/test_what_if.py"),
)


@unittest.skipUnless(TOOLS, "needs a C compiler and setuptools")
class TestCompiled(testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.there = there = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, there)
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        for name in ("nova_twotier", "benchmarks", "tests"):
            shutil.copytree(HERE / name, f"{there}/{name}", ignore=ignored)
        for name in ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(HERE / name, there)
        # Not optimised, it takes less time to compile, and comes to the same.
        cls.run_there("setup.py", "build_ext", "--inplace", NOVA_TWOTIER_COMPILE="0")

    @classmethod
    def run_there(cls, *words, **environment):
        done = subprocess.run(
            [sys.executable, *words],
            cwd=cls.there,
            env=os.environ | {"PYTHONPATH": cls.there} | environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout.splitlines()

    def test_the_same_schedules(self):
        module, *compiled = self.run_there("-m", "tests.unit.sim.schedules", str(JOBS))
        self.assertTrue(module.startswith(self.there) and module.endswith(".so"), module)
        self.assertEqual(list(schedules(JOBS)), compiled)

    def test_it_passes_tests(self):
        options = ("-q", "-n0", "-p", "no:cacheprovider")
        printed = self.run_there("-m", "pytest", *options, *(f"tests/unit/{x}" for x in TESTS))
        self.assertIn(" passed", printed[-1])
