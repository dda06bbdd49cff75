"""Files that are written as a whole, also when the disk is full."""

import contextlib
import os
import pathlib
import resource
import sys
import threading
from unittest import mock

import fixtures
import testtools

from nova_twotier.sim import whole_file
from tests.unit.sim.test_cli import CommandCase


@contextlib.contextmanager
def full_disk():
    """Files do not get beyond a few bytes, as if the disk had no room for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python would keep only the beginning of what it compiles, and stumble over that ever after.
    with mock.patch.object(sys, "dont_write_bytecode", True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def as_nobody():
    """Root may write everywhere."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


class TestReplacing(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.directory / "t.txt"

    def test_there_when_all_is_written(self):
        with whole_file.replacing(self.path) as part:
            part.write_text("new")
            self.assertFalse(self.path.exists())
            self.assertEqual((self.directory, ".txt"), (part.parent, part.suffix))
        self.assertEqual([self.path], list(self.directory.iterdir()))
        self.assertEqual("new", self.path.read_text())

    def test_what_fails_leaves_what_was_there(self):
        self.path.write_text("old")
        with contextlib.suppress(ZeroDivisionError), whole_file.replacing(self.path) as part:
            part.write_text("new")
            raise ZeroDivisionError
        self.assertEqual([self.path], list(self.directory.iterdir()))
        self.assertEqual("old", self.path.read_text())

    def test_errors_have_the_name_of_the_file(self):
        def write(path):
            with whole_file.replacing(path) as part:
                part.write_text("x" * 1000)

        with full_disk():
            error = self.assertRaises(OSError, write, self.path)
        self.assertEqual((str(self.path), "File too large"), (error.filename, error.strerror))
        missing = self.directory / "no" / "t.txt"
        error = self.assertRaises(FileNotFoundError, write, missing)
        self.assertEqual(str(missing), error.filename)

    def test_the_mode_of_a_file_stays(self):
        self.path.write_text("old")
        self.path.chmod(0o600)
        with whole_file.replacing(self.path) as part:
            part.write_text("new")
        self.assertEqual((0o600, "new"), (self.path.stat().st_mode & 0o777, self.path.read_text()))

    def test_what_may_not_be_written_to_stays(self):
        self.directory.chmod(0o777)
        self.path.write_text("old")
        self.path.chmod(0o444)

        def write():
            with as_nobody(), whole_file.replacing(self.path) as part:
                part.write_text("new")

        error = self.assertRaises(PermissionError, write)
        self.assertEqual((str(self.path), "old"), (error.filename, self.path.read_text()))

    def test_a_link_stays_one(self):
        link = self.directory / "link"
        link.symlink_to(self.path)
        with whole_file.replacing(link) as part:
            part.write_text("new")
        self.assertEqual((True, "new"), (link.is_symlink(), self.path.read_text()))

    def test_a_pipe_is_written_to(self):
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        with whole_file.replacing(pipe) as part:
            part.write_text("new")
        reader.join()
        self.assertEqual((["new"], True), (read, pipe.is_fifo()))

    def test_an_open_pipe_is_written_to(self):
        """The shell gives such paths for `| ...` and `>(...)`, whose links name no file."""
        read, write = os.pipe()
        path = whole_file.possible(f"/dev/fd/{write}")
        with whole_file.replacing(path) as part:
            part.write_text("new")
        os.close(write)
        with open(read) as pipe:
            self.assertEqual("new", pipe.read())

    def test_two_at_once(self):
        """As processes of the same number in two containers that share the directory."""
        with whole_file.replacing(self.path) as one, whole_file.replacing(self.path) as other:
            one.write_text("one")
            other.write_text("other")
        self.assertEqual([self.path], list(self.directory.iterdir()))
        self.assertEqual("one", self.path.read_text())


class TestPossible(testtools.TestCase):
    """What `replacing` would refuse after a long run is refused before it."""

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.directory / "t.txt"

    def assert_refused(self, words, path):
        error = self.assertRaises(whole_file.NoPlace, whole_file.possible, path)
        self.assertEqual(f"{path}: {words}", str(error))

    def test_links(self):
        link = self.directory / "link"
        link.symlink_to(self.path)
        self.assertEqual(link, whole_file.possible(link))
        astray = self.directory / "astray"
        astray.symlink_to(self.directory / "no" / "t.txt")
        self.assert_refused(f"there is no directory {self.directory / 'no'}", astray)

    def test_what_may_not_be_written_to(self):
        self.path.write_text("old")
        for closed, words in (
            (self.path, "may not be written to"),
            (self.directory, f"no file can be made in {self.directory}"),
        ):
            # Root may write everywhere.
            with mock.patch.object(os, "access", lambda path, _mode, no=closed: path != no):
                self.assert_refused(words, self.path)


class TestCommands(CommandCase):
    """A disk that is full costs the result, but neither what was there nor the traceback."""

    def test_every_command_that_writes(self):
        self.works("sweep", self.source, "--policy", "fcfs", "--out", self.path("s"), "--jobs", "1")
        for name, *words in (
            ("t.swf", "workload", "convert", self.source),
            ("t.csv", "workload", "convert", self.source),
            ("m.json", "workload", "fit", "lublin:200"),
            ("l.png", "plot", "load", self.path("s"), "--metric", "utilisation"),
            ("l.html", "plot", "load", self.path("s"), "--metric", "utilisation"),
        ):
            self.refused_for_want_of_room(name, *words, "--out", self.path(name))
        state = self.path("state.json")
        at = ("--at", "15", "--under", "fcfs", "--state-out", state)
        self.refused_for_want_of_room("state.json", "what-if", self.source, *at)

    def refused_for_want_of_room(self, name, *words):
        path = pathlib.Path(self.path(name))
        before = path.read_bytes() if path.exists() else None
        there = sorted(self.directory.iterdir())
        with full_disk():
            code, out, err = self.main(*words)
        self.assertEqual((2, "", f"twotier-sim: {path}: File too large\n"), (code, out, err))
        self.assertEqual(there, sorted(self.directory.iterdir()))
        self.assertEqual(before, path.read_bytes() if path.exists() else None)
