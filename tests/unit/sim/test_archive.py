"""Traces are fetched from a directory or a server of this test, and checked; no network."""

import functools
import gzip
import hashlib
import http.server
import pathlib
import socket
import threading

import fixtures
import testtools

from nova_twotier.sim.workloads import archive, swf
from tests.unit.sim.test_cli import LINE, CommandCase
from tests.unit.sim.test_traces import TRACES
from tests.unit.sim.test_whole_file import full_disk

CONTENT = ("; MaxProcs: 2\n" + LINE.format(1, 0, 100, 2, 2, 120)).encode()
TINY = archive.Log(
    *("Tiny-1", "l_tiny", "a computer", 1, 2, len(CONTENT), hashlib.sha256(CONTENT).hexdigest()),
    *("Jane Doe", "for research"),
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class ArchiveCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.sim.workloads.archive.LOGS", {}))
        archive.LOGS[TINY.name] = TINY
        self.mirror = self.directory / "mirror"
        self.mirror.mkdir()
        self.out = self.directory / "traces"
        self.offer(gzip.compress(CONTENT))

    def offer(self, content):
        (self.mirror / TINY.file).write_bytes(content)

    def fetch(self, *options, mirror=None):
        mirror = self.mirror if mirror is None else mirror
        return ("traces", "fetch", TINY.name, "--out", self.out, "--from", mirror, *options)

    def assert_nothing_kept(self):
        self.assertEqual([], list(self.out.iterdir()))


class TestFetch(ArchiveCase):
    def test_from_a_directory_then_run(self):
        path = self.out / TINY.file
        self.assertEqual(
            f"{path}: fetched; acknowledge Jane Doe; for research\n", self.works(*self.fetch())
        )
        self.assertEqual(1, len(swf.read(path).records))
        self.assertEqual(f"{path}: is there already\n", self.works(*self.fetch()))

    def test_from_a_server(self):
        handler = functools.partial(Quiet, directory=self.mirror)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        self.assertIn("fetched", self.works(*self.fetch(mirror=url)))
        (self.out / TINY.file).unlink()
        (self.mirror / TINY.file).unlink()
        self.refused(
            f"{url}/{TINY.file} cannot be fetched: 404 File not found", *self.fetch(mirror=url)
        )
        self.assert_nothing_kept()

    def test_the_archive_is_the_default(self):
        asked = []

        def urlopen(url, timeout):
            asked.append(url)
            raise OSError(-2, "Name or service not known")

        self.useFixture(fixtures.MonkeyPatch("urllib.request.urlopen", urlopen))
        url = f"{archive.ARCHIVE}l_tiny/Tiny-1.swf.gz"
        words = f"{url} cannot be fetched: Name or service not known"
        self.refused(words, "traces", "fetch", "all", "--out", self.out)
        self.assertEqual([url], asked)

    def test_nobody_answers(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
            self.refused("cannot be fetched: Connection refused", *self.fetch(mirror=url))
        self.assert_nothing_kept()

    def test_another_trace(self):
        other = CONTENT.replace(b"100", b"101")
        for content in (other, gzip.compress(other)):
            self.offer(content)
            self.refused(f"{TINY.file}: is not Tiny-1 as it was used here", *self.fetch())
            self.assert_nothing_kept()

    def test_half_of_it(self):
        self.offer(gzip.compress(CONTENT)[:-9])
        self.refused(f"{TINY.file}: is damaged or incomplete", *self.fetch())
        self.assert_nothing_kept()

    def test_far_too_much(self):
        self.offer(bytes(len(CONTENT) + archive.CHUNK + 1))
        self.refused(f"{TINY.file}: is larger than the trace", *self.fetch())
        self.assert_nothing_kept()

    def test_a_full_disk_is_not_taken_for_the_network(self):
        self.offer(bytes(range(256)) * 2)
        with full_disk():
            code, out, err = self.main(*self.fetch())
        path = self.out / TINY.file
        self.assertEqual((2, "", f"twotier-sim: {path}: File too large\n"), (code, out, err))
        self.assert_nothing_kept()

    def test_mistakes(self):
        self.refused(
            "there is no trace 'Huge-1'; choose one of: Tiny-1", *("traces", "fetch"), "Huge-1"
        )
        self.refused("a mirror is a directory, or a URL of", *self.fetch(mirror="ftp://a/b"))
        self.refused("No such file or directory", *self.fetch(mirror=self.path("none")))
        (self.directory / "file").touch()
        self.refused("File exists", *("traces", "fetch", TINY.name, "--out"), self.path("file"))

    def test_a_file_that_is_there_is_not_replaced(self):
        self.out.mkdir()
        (self.out / TINY.file).write_text("mine")
        self.refused("is not Tiny-1 as it was used here", *self.fetch())
        self.assertEqual("mine", (self.out / TINY.file).read_text())


class TestVerify(ArchiveCase):
    def verify(self, *paths):
        code, out, err = self.main("traces", "verify", *paths, "-f", "value", "-c", "state")
        return code, out.split("\n")[:-1], err

    def test_packed_or_not(self):
        plain = self.directory / "Tiny-1.swf"
        plain.write_bytes(CONTENT)
        self.assertEqual((0, ["ok", "ok"], ""), self.verify(plain, self.mirror))

    def test_another(self):
        self.offer(CONTENT + b"\n")
        (self.mirror / "site.swf").write_bytes(CONTENT)
        code, states, err = self.verify(self.mirror)
        self.assertEqual((1, ["differs", "not in the list"]), (code, states))
        self.assertIn("unpacked, its SHA-256 is", err)

    def test_nothing_there(self):
        empty = self.directory / "empty"
        self.refused("there is no such file or directory", "traces", "verify", empty)
        empty.mkdir()
        self.refused("no file that ends in .swf or .swf.gz", "traces", "verify", empty)


class TestKnown(testtools.TestCase):
    def test_names_are_those_of_the_files(self):
        for name, log in archive.LOGS.items():
            self.assertEqual(name, log.name)
            self.assertEqual(log, archive.named(pathlib.Path(f"a/{log.file}")))
            self.assertEqual(log, archive.named(pathlib.Path(f"{name}.swf")))
            self.assertTrue(log.url.endswith(f"/{log.folder}/{name}.swf.gz"))

    def test_real_traces(self):
        for log in archive.LOGS.values():
            path = TRACES / log.file
            if not path.exists():
                self.skipTest(f"{path.name} is not in {TRACES}; TWOTIER_TRACES names a directory")
            archive.check(path, log)
            trace = swf.read(path)
            self.assertEqual((log.jobs, log.processors), (len(trace.records), trace.processors))
            # Not all lines name their people in one, as SDSC's.
            self.assertIn(trace.header("Acknowledge").split()[-1], log.acknowledge)
