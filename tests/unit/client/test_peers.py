"""What the guests of a job read of its metadata; the scripts are run here as in a guest."""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import fixtures

from nova_twotier.client import peers, userdata
from nova_twotier.cloud import peers as cloud_peers
from tests.unit.client.guest_case import UUID, GuestCase, job, server

#: Exit statuses of a read.
COMPLETE, PENDING, SILENT, NOTHING = range(4)


class TestReader(GuestCase):
    def test_who_it_is(self):
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"], rank=1)
        self.assertEqual((COMPLETE, ""), self.refresh())
        self.assertEqual(
            {
                "TWOTIER_JOB_ID": UUID,
                "TWOTIER_JOB_NUMBER": "12",
                "TWOTIER_JOB_NAME": "solver",
                "TWOTIER_RANK": "1",
                "TWOTIER_SIZE": "2",
                "TWOTIER_RESTARTS": "0",
                "TWOTIER_WALLTIME": "3600",
            },
            self.variables(),
        )

    def test_where_all_are(self):
        """In the order of the ranks, whatever the number of addresses, of either family."""
        self.known(job(4), ["10.0.0.5", "fd00::5"], [], ["10.0.0.7"], ["fd00::8"])
        self.assertEqual((COMPLETE, ""), self.refresh())
        self.assertEqual(
            ["0 tt-12-1 10.0.0.5 fd00::5", "1 tt-12-2", "2 tt-12-3 10.0.0.7", "3 tt-12-4 fd00::8"],
            self.peers(),
        )

    def test_many_processes(self):
        """More than fit into one value."""
        where = [[f"192.168.{rank // 250}.{rank % 250 + 1}"] for rank in range(500)]
        self.known(job(500), *where)
        self.assertEqual((COMPLETE, ""), self.refresh())
        expected = [f"{rank} tt-12-{rank + 1} {where[rank][0]}" for rank in range(500)]
        self.assertEqual(expected, self.peers())

    def test_too_many_processes(self):
        """All have names, and everybody can reach the first one."""
        where = [[f"192.168.{100 + rank // 100}.{100 + rank % 100}"] for rank in range(600)]
        self.known(job(600), *where)
        self.assertEqual((COMPLETE, ""), self.refresh())
        self.assertEqual(["0 tt-12-1 192.168.100.100", "1 tt-12-2"], self.peers()[:2])
        self.assertEqual((600, "599 tt-12-600"), (len(self.peers()), self.peers()[-1]))

    def test_hostile_names(self):
        for name in (
            "",
            "it's a 'name'",
            '$(touch hacked) `touch hacked` ${HOME} "quoted" \\',
            "'; touch hacked; '",
            "first\nsecond'\n\n",
            "\n",
            "*",
            "Größe \N{ROCKET}" * 28,
            "\N{ROCKET}" * 255,
            '"twotier_env": "TWOTIER_SIZE=9"',
        ):
            self.known(job(name=name), ["10.0.0.5"], ["10.0.0.9"])
            self.assertEqual((COMPLETE, ""), self.refresh())
            variables = self.variables()
            self.assertEqual(name, variables["TWOTIER_JOB_NAME"])
            self.assertEqual("2", variables["TWOTIER_SIZE"])
            self.assertEqual(7, len(variables), name)
        self.assertEqual([], list(self.directory.rglob("hacked")))

    def test_hostile_metadata(self):
        """Whoever may change them cannot make the guest run anything."""
        evil = {
            cloud_peers.ENVIRONMENT: "TWOTIER_SIZE=2 TWOTIER_X=$(touch${IFS}hacked) PATH=/tmp * ;",
            cloud_peers.NAME: "1",
            f"{cloud_peers.NAME}_0": "!not base64!",
            cloud_peers.ADDRESSES: "2",
            f"{cloud_peers.ADDRESSES}_0": "10.0.0.5;$(touch hacked) *",
            f"{cloud_peers.ADDRESSES}_1": "`touch hacked`",
            "twotier_job": "'; touch hacked; '",
        }
        self.say(evil)
        self.refresh()
        self.assertEqual({"TWOTIER_JOB_NAME", "TWOTIER_RANK", "TWOTIER_SIZE"}, {*self.variables()})
        self.assertEqual([], list(self.directory.rglob("hacked")))
        for line in self.peers():
            self.assertRegex(line, r"\A[0-9a-fA-F:., t-]*\Z")

    def test_what_later_releases_may_add(self):
        items = cloud_peers.running(job(1), [])
        items[cloud_peers.ENVIRONMENT] += " TWOTIER_ARRAY_INDEX=3"
        self.say(items)
        self.refresh()
        self.assertEqual("3", self.variables()["TWOTIER_ARRAY_INDEX"])

    def test_no_walltime(self):
        self.known(job(1, walltime=None))
        self.refresh()
        self.assertEqual("", self.variables()["TWOTIER_WALLTIME"])

    def test_before_the_addresses_are_known(self):
        self.say(cloud_peers.at_boot(job(runs=0, run_since=None), ["lan"]), rank=1)
        said = "the addresses of the other processes are not known"
        self.assertEqual((PENDING, said), self.refresh())
        self.assertEqual(["0 tt-12-1", "1 tt-12-2"], self.peers())
        self.assertEqual("1", self.variables()["TWOTIER_RANK"])
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"], rank=1)
        self.assertEqual((COMPLETE, ""), self.refresh())
        self.assertEqual(["0 tt-12-1 10.0.0.5", "1 tt-12-2 10.0.0.9"], self.peers())

    def test_several_reads_at_once(self):
        """The file of peers is always whole while several processes read the metadata at once."""
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"])
        self.refresh()
        whole = self.variables(), self.peers()
        read = [self.directory / "refresh"]
        for _round in range(10):
            reads = [subprocess.Popen(read, stderr=subprocess.PIPE) for _each in range(4)]
            while any(one.poll() is None for one in reads):
                self.assertEqual(whole[1], self.peers())
            self.assertEqual([b""] * 4, [one.communicate()[1] for one in reads])
        self.assertEqual(whole, (self.variables(), self.peers()))

    def test_no_networks_and_no_others(self):
        for one, networks in ((job(2), ["none"]), (job(1), ["lan"])):
            self.say(cloud_peers.at_boot(one, networks))
            self.assertEqual((COMPLETE, ""), self.refresh())
            self.assertEqual([f"{rank} tt-12-{rank + 1}" for rank in range(one.size)], self.peers())

    def test_a_job_that_is_about_to_be_shelved(self):
        """What is known stays, since its script still runs."""
        one, where = job(), (["10.0.0.5"], ["10.0.0.9"])
        self.known(one, *where)
        self.refresh()
        before = self.variables(), self.peers()
        told = cloud_peers.running(one, [server(each) for each in where])
        self.say(told | cloud_peers.saved(one, server(where[0], told)))
        self.assertEqual(PENDING, self.refresh()[0])
        self.assertEqual(before, (self.variables(), self.peers()))

    def test_a_manager_of_an_earlier_release(self):
        self.say({}, rank=1)
        status, said = self.refresh()
        self.assertEqual(COMPLETE, status)
        self.assertIn("is the queue manager of an earlier release?", said)
        self.assertEqual({"TWOTIER_JOB_ID": UUID, "TWOTIER_RANK": "1"}, self.variables())
        self.assertEqual([], self.peers())


class TestWithoutService(GuestCase):
    def drive(self, content):
        """A configuration drive: the guest mounts it, and unmounts it again."""
        label = self.directory / "labels" / "config-2"
        latest = label / "openstack" / "latest"
        latest.mkdir(parents=True)
        (latest / "meta_data.json").write_text(content)
        self.command("mount", '[ "$1 $2" = "-o ro" ] && cp -R "$3/." "$4"')
        self.command("umount", 'rm -r "$1"/*')

    def test_nothing_at_all(self):
        status, said = self.refresh()
        self.assertEqual(NOTHING, status)
        self.assertIn("does not answer, and there is no configuration drive", said)
        self.assertFalse((self.run_directory / "env").exists())

    def test_no_curl(self):
        """cloud-init is written in Python."""
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"])
        (self.bin / "python3").symlink_to(sys.executable)
        for name in ("base64", "cat", "grep", "mkdir", "mv", "sed", "sh", "tr"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.useFixture(fixtures.EnvironmentVariable("PATH", str(self.bin)))
        self.assertEqual((COMPLETE, ""), self.refresh())
        self.service.content = None
        self.assertEqual(SILENT, self.refresh()[0])

    def test_a_configuration_drive(self):
        """It is as old as the boot: it has no addresses."""
        self.drive(self.document(cloud_peers.at_boot(job(runs=0, run_since=None), ["lan"]), 1))
        self.assertEqual(SILENT, self.refresh()[0])
        self.assertEqual("1", self.variables()["TWOTIER_RANK"])
        self.assertEqual(["0 tt-12-1", "1 tt-12-2"], self.peers())
        self.assertEqual({"env", "peers"}, {each.name for each in self.run_directory.iterdir()})

    def test_a_configuration_drive_that_says_all(self):
        self.drive(self.document(cloud_peers.at_boot(job(), ["none"])))
        self.assertEqual((COMPLETE, ""), self.refresh())

    def test_what_an_earlier_boot_has_read(self):
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"])
        self.refresh()
        for name in ("env", "peers"):
            (self.run_directory / name).unlink()
        self.service.content = None
        status, said = self.refresh()
        self.assertEqual(SILENT, status)
        self.assertIn("an earlier boot", said)
        self.assertEqual(["0 tt-12-1 10.0.0.5", "1 tt-12-2 10.0.0.9"], self.peers())
        self.assertEqual("2", self.variables()["TWOTIER_SIZE"])


class TestRunner(GuestCase):
    """Boots of a server whose script notes what it knows."""

    SAVES = False

    def setUp(self):
        super().setUp()
        self.console = self.directory / "console"
        self.console.touch()
        self.command("poweroff")
        (self.directory / "token").write_text("t0ken")
        self.script(
            'echo "$TWOTIER_RANK of $TWOTIER_SIZE, $TWOTIER_RESTARTS" >> log',
            f'cat "{self.run_directory}/peers" >> log',
        )

    def script(self, *lines):
        path = self.directory / "script"
        # A console that is a file keeps only the last line.
        path.write_text("\n".join(["#!/bin/sh", "cp console said", *lines, ""]))
        path.chmod(0o755)

    def start(self, **changes):
        guest = dataclasses.replace(self.guest, **changes)
        runner = self.directory / "runner"
        given = {"metadata": guest.metadata, "interval": 0.05, "guest": guest}
        text = userdata.runner_of(self.directory, self.console, self.SAVES, **given)
        runner.write_text(text)
        server = subprocess.Popen(["/bin/sh", runner], env=self.environ, start_new_session=True)
        self.addCleanup(server.wait, 30)
        self.addCleanup(self.kill, server)
        return server

    def kill(self, server):
        """What it has started in the background, too; a script that saves has its own group."""
        script = self.directory / "pid"
        for group in [server.pid, *([int(script.read_text())] if script.exists() else [])]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    def boot(self, **changes):
        """Boot until the script has ended; what it noted."""
        log = self.directory / "log"
        log.unlink(missing_ok=True)
        (self.directory / "ended").unlink(missing_ok=True)
        for name in ("env", "peers"):
            (self.run_directory / name).unlink(missing_ok=True)
        server = self.start(**changes)
        self.assertEqual(0, server.wait(60))
        # As the power goes off: a read that still runs must not write into the next boot's files.
        self.kill(server)
        return log.read_text().splitlines()

    def test_the_script_knows(self):
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"], rank=1)
        self.assertEqual(["1 of 2, 0", "0 tt-12-1 10.0.0.5", "1 tt-12-2 10.0.0.9"], self.boot())
        self.assertEqual("twotier-exit t0ken 0\n", self.console.read_text())

    def test_it_waits_for_the_others(self):
        """And says so on the console."""
        self.say(cloud_peers.at_boot(job(runs=0, run_since=None), ["lan"]))
        server = self.start()
        while "waits: the addresses" not in self.console.read_text():
            self.assertIsNone(server.poll())
        self.assertFalse((self.directory / "log").exists())
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"])
        self.assertEqual(0, server.wait(60))
        self.assertIn("0 tt-12-1 10.0.0.5", (self.directory / "log").read_text())

    def test_after_a_restore(self):
        """The others may not be there yet, and may have other addresses."""
        one, where = job(), (["10.0.0.5"], ["10.0.0.9"])
        self.known(one, *where)
        self.boot()
        told = cloud_peers.running(one, [server(each) for each in where])
        self.say(told | cloud_peers.saved(one, server(where[0], told)))
        self.assertEqual(["0 of 2, 1", "0 tt-12-1", "1 tt-12-2"], self.boot(patience=0.2))
        self.known(job(runs=2), ["10.0.0.6"], ["10.0.0.9"])
        self.assertEqual(["0 of 2, 1", "0 tt-12-1 10.0.0.6", "1 tt-12-2 10.0.0.9"], self.boot())

    def test_it_does_not_wait_for_ever(self):
        self.say(cloud_peers.at_boot(job(runs=0, run_since=None), ["lan"]))
        self.assertEqual(["0 of 2, 0", "0 tt-12-1", "1 tt-12-2"], self.boot(patience=0.2))
        said = "nova-twotier starts the script: the addresses of the other processes are not known"
        self.assertEqual(f"{said}\n", self.said())

    def test_no_service(self):
        self.script("env > log", "exit 4")
        self.boot()
        self.assertNotIn("TWOTIER", (self.directory / "log").read_text())
        said = "nova-twotier starts the script: Nova's metadata service does not answer"
        self.assertIn(said, self.said())
        self.assertEqual("twotier-exit t0ken 4\n", self.console.read_text())

    def said(self):
        """The last line on the console before the script started."""
        return (self.directory / "said").read_text()

    def test_an_address_that_changes(self):
        self.known(job(), ["10.0.0.5"], ["10.0.0.9"])
        self.script(
            f'until grep -q "10.0.0.77" "{self.run_directory}/peers"; do sleep 0.05; done',
            f'cat "{self.run_directory}/peers" > log',
        )
        server = self.start()
        while not (self.run_directory / "peers").exists():
            self.assertIsNone(server.poll())
        self.known(job(), ["10.0.0.5"], ["10.0.0.77"])
        self.assertEqual(0, server.wait(60))


class TestRunnerThatSaves(TestRunner):
    SAVES = True


class TestScripts(GuestCase):
    def test_shellcheck(self):
        guest = peers.Guest()
        texts = [peers.reader_of(userdata.DIRECTORY, guest)]
        given = userdata.DIRECTORY, userdata.CONSOLES
        texts += [userdata.runner_of(*given, saves, guest=guest) for saves in (False, True)]
        check = pathlib.Path(sys.executable).with_name("shellcheck")
        for text in texts:
            # The status is a number, and the file is made in the guest.
            command = [check, "--exclude=SC2086,SC1091", "-"]
            found = subprocess.run(command, input=text, capture_output=True, text=True)
            self.assertEqual("", found.stdout)
