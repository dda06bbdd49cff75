"""Which Python `make` takes for its environment."""

import os
import pathlib
import subprocess
import sys

import fixtures
import testtools

ROOT = pathlib.Path(__file__).parents[2]
NAMES = ("python3.11", "python3.12", "python3.13", "python3")
#: As pyenv has for each version, whether or not it is chosen.
NOT_CHOSEN = "echo command not found >&2; exit 127"
RUNS = f'exec {sys.executable} "$@"'
OLD = f"""exec {sys.executable} -c "import sys; sys.version_info = (3, 10, 2); $2" """


class TestPython(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.venv = self.directory / "venv"

    def make(self, *arguments, **pythons):
        """Make an environment where each name is this program, and all others are not chosen."""
        for name in NAMES:
            program = self.directory / name
            program.write_text(f"#!/bin/sh\n{pythons.get(name.replace('.', '_'), NOT_CHOSEN)}\n")
            program.chmod(0o755)
        environment = {**os.environ, "PATH": f"{self.directory}:{os.environ['PATH']}"}
        # Of a `make unit PYTHON=...` that runs this test.
        for name in ("MAKEFLAGS", "PYTHON"):
            environment.pop(name, None)
        command = ["make", *arguments, f"VENV={self.venv}", f"{self.venv}/demo"]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_the_only_one_that_runs(self):
        for name in NAMES:
            done = self.make("--dry-run", **{name.replace(".", "_"): RUNS})
            self.assertIn(f" {name} -m venv {self.venv}", done.stdout)

    def test_one_that_is_new_enough(self):
        done = self.make("--dry-run", python3=OLD, python3_13=RUNS)
        self.assertIn(f" python3.13 -m venv {self.venv}", done.stdout)

    def test_one_that_is_too_old_makes_nothing(self):
        done = self.make(python3=OLD)
        self.assertIn("python3 is Python 3.10. 3.11 or newer is needed", done.stderr)
        self.assertEqual(2, done.returncode)
        self.assertFalse(self.venv.exists())

    def test_an_environment_without_pip_is_finished(self):
        """Where ensurepip is missing, venv has failed after it has made the link to Python."""
        program = self.venv / "bin" / "python"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        done = self.make("--silent", "PYTHON=echo")
        self.assertIn(f"-m venv {self.venv}\n", done.stdout)
