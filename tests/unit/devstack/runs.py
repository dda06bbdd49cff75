"""Runs the plugin as DevStack does, on a directory of its own."""

import json
import os
import pathlib
import subprocess
import sys

from oslo_config import cfg

from tests.unit.devstack import fake_cloud

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]

#: In the order of stack.sh: stackrc, lib/nova, the plugin.
SOURCE = """
set -o errexit -o pipefail
source "$HERE/stubs.sh"
NUMBER_FAKE_NOVA_COMPUTE=${NUMBER_FAKE_NOVA_COMPUTE:-1}
NOVA_FILTERS="ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,\
ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter,SameHostFilter,DifferentHostFilter"
source "$REPOSITORY/devstack/settings"
function run_plugin {
    source "$REPOSITORY/devstack/plugin.sh" "$@"
}
"""
#: What lib/nova writes of the options that are ours as well, with the fake driver.
NOVA_CONF = """[DEFAULT]
compute_driver = fake.FakeDriverWithoutFakeNodes
debug = True
[filter_scheduler]
enabled_filters = {filters}
[scheduler]
workers = 1
[quota]
driver = nova.quota.NoopQuotaDriver
"""


class DevStack:
    """A machine with DevStack; its cloud is `tests.unit.devstack.fake_cloud`.

    :param settings: variables of local.conf.
    """

    def __init__(self, directory: pathlib.Path, **settings: str):
        self.directory = directory
        self.settings = settings
        self._calls = directory / "calls"
        self._cloud = directory / "cloud.json"
        programs = directory / "bin"
        programs.mkdir()
        for name in fake_cloud.PROGRAMS:
            program = programs / name
            program.write_text(
                f'#!/bin/sh\nexec {sys.executable} -IS {HERE}/fake_cloud.py {name} "$@"\n'
            )
            program.chmod(0o755)
        self.cloud = fake_cloud.EMPTY
        self.nova_conf = directory / "etc/nova/nova.conf"
        self.nova_conf.parent.mkdir(parents=True)
        (directory / "data").mkdir()
        self._filters = self.value_of("NOVA_FILTERS")
        self.create_nova_conf()

    def create_nova_conf(self) -> None:
        """What lib/nova's function of that name does."""
        self.nova_conf.write_text(NOVA_CONF.format(filters=self._filters))

    @property
    def cloud(self) -> dict:
        return json.loads(self._cloud.read_text())

    @cloud.setter
    def cloud(self, state: dict) -> None:
        self._cloud.write_text(json.dumps(state))

    @property
    def calls(self) -> list[str]:
        """The calls of the last run, one line each, in their order."""
        return self._calls.read_text().splitlines()

    @property
    def our_conf(self) -> pathlib.Path:
        return self.directory / "etc/nova-twotier/nova-twotier.conf"

    def files(self) -> set[str]:
        """What lies below etc and data."""
        return {
            str(path.relative_to(self.directory))
            for top in ("etc", "data")
            for path in (self.directory / top).rglob("*")
        }

    def value_of(self, variable: str) -> str:
        ran = self._bash(f'echo "${variable}"')
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def try_phase(self, mode: str, phase: str = "", **more: str) -> subprocess.CompletedProcess:
        return self._bash(f"run_plugin {mode} {phase}", **more)

    def run(self, mode: str, phase: str = "") -> str:
        ran = self.try_phase(mode, phase)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout + ran.stderr

    def stack(self, *phases: str) -> None:
        """Run these phases, or all, in the one shell that stack.sh is."""
        self.create_nova_conf()
        phases = phases or ("pre-install", "install", "post-config", "extra", "test-config")
        script = "\n".join(f"run_plugin stack {phase}" for phase in phases)
        ran = self._bash(script)
        assert ran.returncode == 0, ran.stderr

    def _bash(self, script: str, **more: str) -> subprocess.CompletedProcess:
        self._calls.write_text("")
        environment = {
            "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
            "HERE": str(HERE),
            "REPOSITORY": str(ROOT),
            "SANDBOX": str(self.directory),
            "CALLS": str(self._calls),
            "CLOUD": str(self._cloud),
            **self.settings,
            **more,
        }
        return subprocess.run(
            ["bash", "-c", SOURCE + script],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def options(path: pathlib.Path) -> dict[str, dict[str, list[str]]]:
    """Sections, options and their values of an ini file; sections without any are left out."""
    sections = {}
    cfg.ConfigParser(str(path), sections).parse()
    return {name: found for name, found in sections.items() if found}
