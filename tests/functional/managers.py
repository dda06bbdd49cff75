"""Queue managers as processes of their own, without a cloud: enough to see who leads."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from nova_twotier.db import terms
from tests.new_databases import new_store

#: Nobody listens there.
NOWHERE = "http://127.0.0.1:9"
PATIENCE = 180
CONF = """
[DEFAULT]
state_path = {directory}
[coordination]
backend_url = {backend}
lease = {lease}
[manager]
flavor = slot
image = none
pools = {pools}
poll_interval = 0.2
{more}
[nova]
auth_type = none
endpoint_override = {nowhere}
[placement]
auth_type = none
endpoint_override = {nowhere}
"""


class Manager:
    """A `twotier-manager` process and its log."""

    def __init__(self, conf_file, log):
        self._log = pathlib.Path(log)
        argv = [sys.executable, "-m", "nova_twotier.cmd.manager", "--config-file", str(conf_file)]
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(argv, stdout=output, stderr=output)

    def log(self):
        return self._log.read_text()

    def says(self, words, times=1):
        """Wait until it has said so."""
        wait(lambda: self.log().count(words) >= times, lambda: f"{words!r} in:\n{self.log()}")

    def signal(self, number):
        os.kill(self.process.pid, number)

    def end(self):
        """Exit code after SIGTERM."""
        self.signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self):
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


class Site:
    """A directory, a database, and managers that share both.

    :param backend: what the leader is elected with; default: files.
    :param case: the test case, at whose end all processes are gone.
    """

    def __init__(self, case, backend=None, lease=4, pools="default", more=""):
        self._case = case
        self.lease = lease
        temporary = tempfile.TemporaryDirectory()
        case.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self._values = {
            "directory": self.directory,
            "backend": backend or f"file://{self.directory}/coordination",
            "lease": lease,
            "pools": pools,
            "nowhere": NOWHERE,
        }
        self.configure(more)
        self.store = new_store(case, f"sqlite:///{self.directory}/twotier.sqlite")
        self._started = 0

    @property
    def conf_file(self):
        return self.directory / "nova-twotier.conf"

    def configure(self, more=""):
        """Write the configuration, with further options of the manager."""
        self.conf_file.write_text(CONF.format(**self._values, more=more))

    def start(self):
        self._started += 1
        manager = Manager(self.conf_file, self.directory / f"manager{self._started}.log")
        self._case.addCleanup(manager.kill)
        return manager

    def leads(self, manager, pool="default"):
        """Wait until a manager leads a pool; returns the seconds that it took."""
        begun = time.monotonic()
        suffix = f":{manager.process.pid}"
        wait(
            lambda: terms.leader_of(self.store, pool).endswith(suffix),
            lambda: f"the leader of {pool} is {suffix}; its log:\n{manager.log()}",
        )
        return time.monotonic() - begun


def wait(seen, what):
    """Until `seen()`.

    :raises AssertionError: if it takes too long.
    """
    end = time.monotonic() + PATIENCE
    while not seen():
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE} s in vain for {what()}")
        time.sleep(0.05)
