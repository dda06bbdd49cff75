"""The installed commands where the libraries of their extras are missing."""

import configparser
import pathlib
import pkgutil
import subprocess
import sys

import testtools

from nova_twotier.cmd import extras

ROOT = pathlib.Path(__file__).parents[3]
#: Of each command, a library that only its extra brings, and the extra.
NEEDS = {
    "fakecloud": ("sqlalchemy", "demo"),
    "nova-twotier-agent": ("prometheus_client", "agent"),
    "twotier-api": ("falcon", "api"),
    "twotier-calibrate": ("matplotlib", "calibrate"),
    "twotier-manager": ("sqlalchemy", "manager"),
    "twotier-replay": ("rich", "demo"),
    "twotier-sim": ("cliff", "sim"),
}
#: Of those that import it late, arguments with which they come that far.
ARGUMENTS = {"twotier-api": ["--config-file=/dev/null"], "twotier-calibrate": []}
#: The beginning of an installed script, without a library.
SCRIPT = "import pkgutil, sys; sys.modules[sys.argv[1]] = None; del sys.argv[:2]; "


def scripts():
    """The function that each command calls."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    lines = config["options.entry_points"]["console_scripts"].strip().splitlines()
    return dict(line.split(" = ") for line in lines)


class TestExtras(testtools.TestCase):
    def run_without(self, library, command, *arguments):
        code = f"{SCRIPT}sys.exit(pkgutil.resolve_name({scripts()[command]!r})())"
        return subprocess.run(
            [sys.executable, "-c", code, library, command, *arguments],
            capture_output=True,
            text=True,
        )

    def test_each_command_says_what_to_install(self):
        for command, (library, extra) in NEEDS.items():
            done = self.run_without(library, command, *ARGUMENTS.get(command, ["--help"]))
            self.assertEqual(
                f"{command}: needs {library}, which is not installed: "
                f"pip install 'nova-twotier[{extra}]'\n",
                done.stderr,
            )
            self.assertEqual((1, ""), (done.returncode, done.stdout), command)

    def test_a_module_of_ours_is_a_mistake_of_ours(self):
        done = self.run_without("nova_twotier.sim.cli.app", "twotier-sim", "--help")
        self.assertIn("Traceback", done.stderr)
        self.assertIn("nova_twotier.sim.cli.app", done.stderr.splitlines()[-1])

    def test_every_command_is_there(self):
        for command, function in scripts().items():
            called = pkgutil.resolve_name(function)
            if function.startswith(extras.__name__):
                name, module, extra = called.args
                self.assertEqual(command, name)
                self.assertTrue(callable(pkgutil.resolve_name(module).main))
                self.assertIn(f"\n{extra} =\n", (ROOT / "setup.cfg").read_text())
