"""The user data of a batch script; what runs it in the guest is run here."""

import base64
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import fixtures
import testtools
import yaml

from nova_twotier.client import userdata
from nova_twotier.manager.shutdowns import reported

TOKEN = userdata.new_token()


class TestScript(testtools.TestCase):
    def test_cloud_config(self):
        script = "#!/bin/sh\necho é\n".encode()
        text = userdata.of_script(script, TOKEN).decode()
        self.assertTrue(text.startswith("#cloud-config\n"))
        written = yaml.safe_load(text)
        self.assertEqual(["write_files"], list(written))
        files = {file["path"]: file for file in written["write_files"]}
        self.assertEqual(
            {
                "/var/lib/nova-twotier/script",
                "/var/lib/nova-twotier/token",
                "/var/lib/cloud/scripts/per-boot/nova-twotier",
            },
            set(files),
        )
        token = files.pop("/var/lib/nova-twotier/token")
        self.assertEqual(("0600", "b64"), (token["permissions"], token["encoding"]))
        self.assertEqual(TOKEN, base64.b64decode(token["content"]).decode())
        for file in files.values():
            self.assertEqual(("0755", "b64"), (file["permissions"], file["encoding"]))
        content = files["/var/lib/nova-twotier/script"]["content"]
        self.assertEqual(script, base64.b64decode(content))
        self.assertEqual(written, json.loads(text.partition("\n")[2]))

    def test_what_runs_it_must_be_said(self):
        for script in (b"", b"echo hello\n", b"\n#!/bin/sh\n"):
            error = self.assertRaises(ValueError, userdata.of_script, script, TOKEN)
            self.assertEqual("a script begins with a line such as #!/bin/sh", str(error))

    def test_dos_line_breaks_are_refused(self):
        for script in (b"#!/bin/sh\r\necho hello\r\n", b"#!/bin/sh\r"):
            error = self.assertRaises(ValueError, userdata.of_script, script, TOKEN)
            self.assertEqual("the script has DOS line breaks; convert it with dos2unix", str(error))
        self.assertIn(b"write_files", userdata.of_script(b"#!/bin/sh\nprintf 'a\r\n'\n", TOKEN))


class TestFiles(testtools.TestCase):
    def test_a_file_that_is_not_there(self):
        error = self.assertRaises(ValueError, userdata.read, "/nowhere/job.sh")
        self.assertEqual("/nowhere/job.sh: No such file or directory", str(error))


class TestRunner(testtools.TestCase):
    """Boots of a server: each runs what cloud-init would run."""

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.bin = self.directory / "bin"
        self.bin.mkdir()
        self.write(self.bin / "poweroff", "echo off >> log")
        self.runner = self.directory / "runner"
        self.console = self.directory / "console"
        self.console.touch()
        self.consoles = f"{self.directory}/none {self.console}"
        self.runner.write_text(userdata.runner_of(self.directory, self.consoles, saves=False))
        (self.directory / "token").write_text(TOKEN)

    def write(self, path, *lines):
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def start(self):
        environ = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        server = subprocess.Popen(["/bin/sh", self.runner], env=environ, start_new_session=True)
        self.addCleanup(self.kill, server, signal.SIGKILL)
        return server

    def boot(self):
        return self.start().wait(60)

    def kill(self, server, number):
        """Send a signal to all processes of a server."""
        script = self.directory / "pid"
        for group in [server.pid, *([int(script.read_text())] if script.exists() else [])]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)

    def log(self):
        path = self.directory / "log"
        return path.read_text().split() if path.exists() else []

    def test_the_server_is_powered_off_at_the_end(self):
        self.write(self.directory / "script", "echo ran >> log", "exit 3")
        self.boot()
        self.assertEqual(["ran", "off"], self.log())
        self.assertEqual(3, self.reported())

    def reported(self):
        """The exit status that the queue manager reads on the console."""
        return reported(self.console.read_text(), TOKEN)

    def test_a_script_that_has_ended_does_not_run_again(self):
        self.write(self.directory / "script", "echo ran >> log")
        self.boot()
        # The console's log may begin anew with each boot.
        self.console.write_text("")
        self.boot()
        self.assertEqual(["ran", "off", "off"], self.log())
        self.assertEqual(0, self.reported())

    def test_a_script_that_was_killed(self):
        self.write(self.directory / "script", "kill -KILL $$")
        self.boot()
        self.assertEqual(137, self.reported())

    def test_a_script_that_a_shutdown_ended_runs_again(self):
        self.write(
            self.directory / "script",
            "[ -e saved ] && { echo again >> log; exit; }",
            "trap 'touch saved; echo saved >> log; exit' TERM",
            "echo ran >> log",
            "while :; do sleep 0.05; done",
        )
        server = self.start()
        self.wait_for(self.log)
        # As a shutdown does: to all processes.
        self.kill(server, signal.SIGTERM)
        self.assertEqual(143, server.wait(60))
        self.assertEqual(["ran", "saved"], self.log())
        self.assertIsNone(self.reported())
        self.boot()
        self.assertEqual(["ran", "saved", "again", "off"], self.log())
        self.assertEqual(0, self.reported())


class TestSaving(TestRunner):
    """The same, and the answer to the notice of a preemption in the server's metadata."""

    def setUp(self):
        super().setUp()
        self.metadata = self.directory / "meta_data.json"
        self.tell(None)
        rest = {"metadata": self.metadata.as_uri(), "interval": 0.05}
        runner = userdata.runner_of(self.directory, self.consoles, saves=True, **rest)
        self.runner.write_text(runner)

    def tell(self, at):
        """Announce a preemption as Nova's metadata service shows it; None withdraws it."""
        meta = {"twotier_job": "uuid"} | ({"twotier_notice": f"preempted at {at}"} if at else {})
        new = self.directory / "new.json"
        new.write_text(json.dumps({"uuid": "u-u-i-d", "meta": meta, "name": "job-1-0"}))
        new.rename(self.metadata)

    def saved(self):
        """The time of the preemption before which the script has saved; a console file keeps only
        the last report."""
        return re.findall(rf"^twotier-saved {TOKEN} (.*)$", self.console.read_text(), re.MULTILINE)

    def begin(self):
        self.write(
            self.directory / "script",
            "trap 'echo saved >> log; exit' TERM",
            "echo ran >> log",
            "[ ! -e last ] || exit 0",
            "while :; do sleep 0.05; done",
        )
        server = self.start()
        self.addCleanup(server.wait, 60)
        self.addCleanup(self.kill, server, signal.SIGKILL)
        self.wait_for(self.log)
        return server

    def test_it_reports_that_it_has_saved(self):
        server = self.begin()
        self.tell("2026-11-24T02:00:00+00:00")
        self.wait_for(self.saved)
        self.assertEqual(["2026-11-24T02:00:00+00:00"], self.saved())
        self.assertEqual(["ran", "saved"], self.log())
        self.assertIsNone(server.poll(), "it waits for the shutdown")
        self.assertIsNone(self.reported(), "and has not ended")

    def test_all_processes_of_the_script_save(self):
        """What a script starts gets the signal, too, and is waited for."""
        program = self.directory / "program"
        self.write(
            program,
            "trap 'sleep 1; echo stored >> log; exit' TERM",
            "echo ran >> log",
            "while :; do sleep 0.05; done",
        )
        self.write(self.directory / "script", f"{program} &", "wait")
        server = self.start()
        self.addCleanup(server.wait, 60)
        self.addCleanup(self.kill, server, signal.SIGKILL)
        self.wait_for(self.log)
        self.tell("2026-11-24T02:00:00+00:00")
        self.wait_for(self.saved)
        self.assertEqual(["ran", "stored"], self.log())

    def test_metadata_that_cannot_be_read_withdraw_nothing(self):
        server = self.begin()
        self.tell("2026-11-24T02:00:00+00:00")
        self.wait_for(self.saved)
        self.metadata.rename(self.directory / "away")
        time.sleep(0.5)
        self.assertEqual(["ran", "saved"], self.log())
        self.assertIsNone(server.poll())

    def test_a_preemption_that_is_given_up(self):
        self.begin()
        self.tell("2026-11-24T02:00:00+00:00")
        self.wait_for(self.saved)
        self.tell(None)
        self.wait_for(lambda: self.log() == ["ran", "saved", "ran"])
        self.tell("2026-11-24T03:00:00+00:00")
        self.wait_for(lambda: self.saved() == ["2026-11-24T03:00:00+00:00"])

    def test_an_answered_notice_that_is_still_there_after_the_restore(self):
        server = self.begin()
        self.tell("2026-11-24T02:00:00+00:00")
        self.wait_for(self.saved)
        self.kill(server, signal.SIGKILL)
        server.wait(60)
        self.write(self.directory / "script", "sleep 0.5", "echo again >> log")
        self.boot()
        self.assertEqual(["ran", "saved", "again", "off"], self.log())
        self.assertEqual(0, self.reported())

    def test_no_metadata_service(self):
        self.metadata.unlink()
        self.write(self.directory / "script", "sleep 0.3", "exit 4")
        self.boot()
        self.assertEqual(4, self.reported())
