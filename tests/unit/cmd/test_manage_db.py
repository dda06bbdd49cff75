"""`twotier-manage db`, `history` and `schedule`: the manager's database."""

import json
import subprocess
import sys
import textwrap
import time

from sqlalchemy import text

from nova_twotier.cmd import manage
from nova_twotier.db import migration
from nova_twotier.db.connection import connect
from nova_twotier.db.models import Job, Place
from nova_twotier.db.states import JobState
from nova_twotier.sim.workloads import swf
from tests.unit.cmd.case import CommandCase
from tests.unit.sim.test_whole_file import full_disk


class ManageCase(CommandCase):
    def manage(self, *args):
        return self.run_main(manage.main, *args)


class TestSchema(ManageCase):
    def setUp(self):
        super().setUp()
        self.file = self.directory / "other.sqlite"
        self.conf.write_text(f"[database]\nconnection = sqlite:///{self.file}\n")

    def test_reading_makes_nothing(self):
        missing = self.directory / "none" / "other.sqlite"
        self.conf.write_text(f"[database]\nconnection = sqlite:///{missing}\n")
        for command in (("db", "version"), ("history", "export")):
            code, out, err = self.manage(*command)
            self.assertEqual((2, "", 1), (code, out, err.count("\n")), command)
            self.assertIn(f"there is no manager's database {missing}", err)
        self.assertFalse(missing.parent.exists())

    def test_from_nothing_to_the_newest(self):
        self.file.touch()
        code, out, _err = self.manage("db", "version", "-f", "json")
        [row] = json.loads(out)
        self.assertEqual((1, "none", migration.NEWEST), (code, row["is"], row["newest"]))
        self.assertEqual(
            (
                0,
                textwrap.dedent(f"""\
                database,was,is
                sqlite:///{self.file},none,{migration.NEWEST}
                """),
                "",
            ),
            self.manage("db", "upgrade", "-f", "csv"),
        )
        self.assertEqual(0, self.manage("db", "version")[0])
        self.assertEqual(0, self.manage("db", "upgrade")[0])

    def test_a_schema_that_is_newer(self):
        self.manage("db", "upgrade")
        engine = connect(f"sqlite:///{self.file}")
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        engine.dispose()
        code, out, err = self.manage("db", "upgrade")
        self.assertEqual((2, "", 1), (code, out, err.count("\n")))
        self.assertIn("install the newer version", err)
        self.assertEqual(1, self.manage("db", "version")[0])

    def test_a_server_that_does_not_answer(self):
        self.conf.write_text(
            "[database]\nconnection = mysql+pymysql://me:secret@127.0.0.1:1/twotier\n"
        )
        for command in (("db", "version"), ("db", "upgrade"), ("history", "export"), ("schedule",)):
            code, out, err = self.manage(*command)
            self.assertEqual((2, "", 1), (code, out, err.count("\n")), command)
            self.assertIn("me:***@127.0.0.1:1/twotier", err)


class TestHistory(ManageCase):
    def setUp(self):
        super().setUp()
        self.store.submit(4, [0.6], name="solver", at=1000.0, project_id="p")
        with self.store.transaction() as session:
            job = session.get(Job, 1)
            job.state, job.started_at, job.finished_at = JobState.FINISHED, 1010.0, 1070.0

    def test_to_the_standard_output(self):
        code, out, err = self.manage("history", "export")
        self.assertEqual((0, ""), (code, err))
        [record] = swf.parse(out.splitlines(), "out").records
        self.assertEqual((1, 10, 60, 4), (record.number, record.wait, record.run, record.procs))
        self.assertEqual("1 0 10 60 4 -1 -1 4 -1 -1 1 -1 1 1 2 -1 -1 -1", out.splitlines()[-1])

    def test_to_a_file(self):
        path = self.directory / "trace.swf"
        code, out, _err = self.manage("history", "export", "--out", str(path), "--processors", "64")
        self.assertEqual(0, code)
        self.assertIn(f"| {path} | 1    |", out)
        trace = swf.read(path)
        self.assertEqual((64, 1), (trace.processors, len(trace.records)))

    def test_mistakes(self):
        for args, words in (
            (("--out", "/proc/none/trace.swf"), "No such file"),
            (("--processors", "0"), "'0' is not a number of slots"),
        ):
            code, out, err = self.manage("history", "export", *args)
            self.assertEqual((2, ""), (code, out))
            self.assertIn(words, err)

    def test_a_full_disk_does_not_cost_the_last_export(self):
        path = self.directory / "trace.swf"
        path.write_text("the last one")
        with full_disk():
            code, out, err = self.manage("history", "export", "--out", str(path))
        self.assertEqual((2, ""), (code, out))
        self.assertEqual(f"twotier-manage: {path}: File too large\n", err)
        self.assertEqual("the last one", path.read_text())

    def test_output_that_finds_no_room(self):
        """The exit code 1 is for findings."""
        command = [sys.executable, "-m", "nova_twotier.cmd.manage", "--config-file", self.conf]
        for words in (("history", "export"), ("schedule",)):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [*command, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
                )
            said = "twotier-manage: standard output: No space left on device\n"
            self.assertEqual((2, said), (done.returncode, done.stderr))


class TestPurge(ManageCase):
    def setUp(self):
        super().setUp()
        for _each in range(3):
            self.store.submit(1, [0.6])
        with self.store.transaction() as session:
            for number, age in ((1, 91), (2, 89)):
                job = session.get(Job, number)
                job.state, job.finished_at = JobState.FINISHED, time.time() - age * 86400

    def purge(self, *args):
        code, out, err = self.manage("db", "purge", "--older-than", "90", "-f", "json", *args)
        self.assertEqual((0, ""), (code, err))
        return json.loads(out), [job.number for job in self.store.jobs()]

    def test_it_says_what_it_deleted(self):
        purged = [{"jobs": 1, "events": 1, "actions": 0, "places": 0}]
        self.assertEqual((purged, [1, 2, 3]), self.purge("--dry-run"))
        self.assertEqual((purged, [2, 3]), self.purge())
        self.assertEqual(([dict.fromkeys(purged[0], 0)], [2, 3]), self.purge())

    def test_mistakes(self):
        for args in ((), ("--older-than", "0"), ("--older-than", "-1"), ("--older-than", "old")):
            code, out, _err = self.manage("db", "purge", *args)
            self.assertEqual((2, ""), (code, out))
        self.assertEqual(3, len(self.store.jobs()))


class TestSweep(ManageCase):
    def test_it_needs_to_know_keystone(self):
        code, out, err = self.manage("trust", "sweep")
        self.assertEqual((2, "", 1), (code, out, err.count("\n")))
        self.assertIn("configuration group [nova] has no auth_type", err)

    def test_without_keystone(self):
        """As `fakecloud up` writes it, which has none, or as for a Nova without authentication."""
        text = self.conf.read_text()
        for options in (
            "auth_type = admin_token\nendpoint = http://127.0.0.1:1\ntoken = admin:admin",
            "auth_type = none\nendpoint_override = http://127.0.0.1:1",
        ):
            self.conf.write_text(f"{text}[api]\nauth_strategy = noauth\n[nova]\n{options}\n")
            code, out, err = self.manage("trust", "sweep")
            self.assertEqual((2, "", 1), (code, out, err.count("\n")))
            self.assertIn("with [api]auth_strategy = noauth there is nothing to do", err)

    def test_a_keystone_that_does_not_answer(self):
        with self.conf.open("a") as file:
            file.write(
                "[nova]\nauth_type = password\nauth_url = http://127.0.0.1:1/v3\n"
                "username = twotier\npassword = s3cret\nuser_domain_name = Default\n"
                "project_name = service\nproject_domain_name = Default\n"
            )
        code, out, err = self.manage("trust", "sweep")
        self.assertEqual((2, "", 1), (code, out, err.count("\n")))
        self.assertIn("the user of [nova] cannot log in", err)


class TestSchedule(ManageCase):
    TABLE = "job,process,host,tier,from,to,slot\n1,0,a,fg,2.000,3.500,1\n1,0,a,bg,3.500,,1\n"

    def setUp(self):
        super().setUp()
        self.store.submit(1, [0.6], at=1.0)
        place = {"job": 1, "process": 0, "server": "s", "host": "a", "slot": 1}
        with self.store.transaction() as session:
            session.add(Place(tier="fg", since=2.0, until=3.5, **place))
            session.add(Place(tier="bg", since=3.5, **place))

    def test_to_the_standard_output(self):
        self.assertEqual((0, self.TABLE, ""), self.manage("schedule"))

    def test_to_a_file(self):
        path = self.directory / "schedule.csv"
        code, out, _err = self.manage("schedule", "--out", str(path))
        self.assertEqual((0, self.TABLE), (code, path.read_text()))
        self.assertIn(f"| {path} | 2      |", out)
