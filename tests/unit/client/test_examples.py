"""The scripts of doc/tenant.md that use what a process knows, run in the guests of a job.

`mpirun`, `torchrun`, `ssh` and the like only note what they were called with.
"""

import pathlib
import re
import subprocess

import fixtures

from tests.unit.client.guest_case import GuestCase, job

PAGE = pathlib.Path(__file__).parents[3] / "doc/tenant.md"
ADDRESSES = ["10.0.0.5", "10.0.0.9", "fd00::7", "10.0.0.11"]
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"


class ExampleCase(GuestCase):
    """The guest of one process, and what was called there: `calls`."""

    SIZE = 4

    def setUp(self):
        super().setUp()
        self.home = self.directory / "root"
        self.home.mkdir()
        self.calls_path = self.directory / "calls"
        for name in ("mpirun", "torchrun", "ssh", "openstack"):
            self.record(name)

    def record(self, name, *lines):
        self.command(name, f'echo "{name} $*" >> "{self.calls_path}"', *lines)

    @property
    def calls(self):
        path = self.calls_path
        return path.read_text().splitlines() if path.exists() else []

    def block(self, file):
        """The commands of the page that make a script and submit it."""
        [found] = re.findall(rf"^```shell\n(cat > {file} .*?)^```$", PAGE.read_text(), re.M | re.S)
        return found

    def submitted(self, file):
        """The script as it is when the commands have run, with the paths of this test."""
        where = self.useFixture(fixtures.TempDir()).path
        self.shell(self.block(file), where)
        text = (pathlib.Path(where) / file).read_text()
        text = text.replace("/run/twotier", str(self.run_directory))
        text = text.replace("HOME=/root", f"HOME={self.home}")
        script = self.directory / "script"
        script.write_text(text)
        script.chmod(0o755)

    def shell(self, text, where):
        subprocess.run(["/bin/sh", "-ec", text], cwd=where, env=self.environ, check=True)

    def run_script(self, rank):
        """Its exit status."""
        where = [[each] for each in ADDRESSES[: self.SIZE]]
        self.known(job(self.SIZE), *where, rank=rank)
        self.assertEqual((0, ""), self.refresh())
        variables = self.variables()
        done = subprocess.run(
            ["./script"], cwd=self.directory, env={**self.environ, **variables}, timeout=60
        )
        return done.returncode


class TestMpi(ExampleCase):
    def setUp(self):
        super().setUp()
        # The page does not quote the directory, which has no spaces there.
        self.adopt(self.directory / "run")
        makes, derives = f"*-N*) printf '%s' '{KEY}' > mpi-key ;;", "*) echo public ;;"
        self.record("ssh-keygen", 'case "$*" in', makes, derives, "esac")
        self.submitted("mpi.sh")

    def test_it_is_submitted(self):
        options = "job create --name mpi --size 4 --script mpi.sh --walltime 2h"
        self.assertEqual(f"openstack twotier {options}", self.calls[-1])

    def test_the_first_process(self):
        """It runs the program on all of them when they can be reached, and says how it ended."""
        refused = self.directory / "refused"
        self.record("ssh", f'[ -e "{refused}" ] || {{ touch "{refused}"; exit 255; }}')
        self.record("mpirun", "exit 3")
        self.command("sleep")
        self.assertEqual(3, self.run_script(0))
        hosts = self.run_directory / "hosts"
        self.assertEqual([f"{each} slots=1" for each in ADDRESSES], hosts.read_text().splitlines())
        [began] = [at for at, call in enumerate(self.calls) if call.startswith("mpirun")]
        self.assertEqual(
            f"mpirun --allow-run-as-root --hostfile {hosts} -np 4 -x TWOTIER_RESTARTS /opt/solve",
            self.calls[began],
        )
        reached = ADDRESSES[1:2] + ADDRESSES[1:]
        before = [call for call in self.calls[:began] if call.startswith("ssh ")]
        self.assertEqual([f"ssh {each} true" for each in reached], before)
        told = [f"ssh {each} {self.told(3)}" for each in ADDRESSES[1:]]
        self.assertEqual(told, self.calls[began + 1 :])

    def test_the_key(self):
        self.run_script(0)
        ssh = self.home / ".ssh"
        self.assertEqual(KEY, (ssh / "id_ed25519").read_text())
        self.assertEqual("public\n", (ssh / "authorized_keys").read_text())
        modes = {path.stat().st_mode & 0o77 for path in (ssh, *ssh.iterdir())}
        self.assertEqual({0}, modes, "nobody else reads them")

    def test_the_others(self):
        """They end as the first process tells them to."""
        ended = self.run_directory / "ended"
        self.command("sleep", f'[ -e "{ended}" ] || {self.told(3)}')
        self.assertEqual(3, self.run_script(2))
        self.assertEqual([], [call for call in self.calls if call.startswith("mpirun")])

    def told(self, status):
        """The command by which the first process tells the others."""
        [command] = re.findall(r'^    ssh "\$host" "(echo .*)"$', self.block("mpi.sh"), re.M)
        return command.replace("$status", str(status)).replace(
            "/run/twotier", str(self.run_directory)
        )


class TestTorch(ExampleCase):
    SIZE = 2

    def test_every_process(self):
        self.adopt(self.directory / "run")
        self.submitted("train.sh")
        self.assertEqual(0, self.run_script(1))
        self.assertEqual(
            "torchrun --nnodes 2 --node-rank 1 --nproc-per-node 1 --master-addr 10.0.0.5 "
            "--master-port 29500 /opt/train.py",
            self.calls[-1],
        )
