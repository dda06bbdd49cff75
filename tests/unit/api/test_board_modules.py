"""The modules of the board that know no page, tested with Node.js where there is one."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from nova_twotier import api
from nova_twotier.db.models import Place
from nova_twotier.manager import schedule
from nova_twotier.sim import schedules
from nova_twotier.sim.plots import gantt, job_colours, lanes, recorded, stays
from nova_twotier.sim.plots.lanes import Host, Layout
from nova_twotier.sim.plots.stays import Stay

NODE = shutil.which("node")
TESTS = pathlib.Path(__file__).parent / "static"
#: 2026-11-18 11:06:40 UTC.
EPOCH = 1_795_000_000.0
HOSTS = ("node1", "node2", "node10")

#: Of each process its stays: seconds after the last one, length, host and tier.
HISTORY = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.5, 1.0, 1.5, 30.0]),
            st.integers(1, 50),
            st.sampled_from(HOSTS),
            st.sampled_from(["fg", "bg"]),
        ),
        min_size=1,
        max_size=5,
    ),
    min_size=1,
    max_size=12,
)


def history(drawn):
    """The stays of jobs of two processes each, numbered as the queue manager does."""
    found = []
    for index, each in enumerate(drawn):
        at = EPOCH
        for gap, length, host, tier in each:
            begin, at = at + gap, at + gap + length
            found.append(Stay(index // 2 + 1, index % 2, host, tier, begin, at))
    return stays.numbered(found)


def row(stay):
    """A stay as `GET /v1/schedule` shows it."""
    begin, end = (datetime.fromtimestamp(at, UTC).isoformat() for at in (stay.begin, stay.end))
    job = {"number": stay.job, "uuid": f"u{stay.job}", "name": "", "project_id": "", "array": None}
    place = {"host": stay.host, "tier": stay.tier, "slot": stay.number, "process": stay.process}
    return {**place, "from": begin, "to": end, "size": 2, "pool": "default", "job": job}


def exported(drawn, path):
    """The chart of what `twotier-manage schedule --out` writes about these stays."""
    places = [
        Place(
            job=stay.job,
            process=stay.process,
            host=stay.host,
            tier=stay.tier,
            since=stay.begin,
            until=stay.end,
            slot=stay.number,
        )
        for stay in drawn
    ]
    path.write_text(schedule.as_csv(places))
    read = schedules.read(path)
    return recorded.of(read.stays, hosts=read.hosts, dated=True)


def bars(chart):
    """What a chart shows, as agreement.js tells it of the board."""
    colours = ((stay, gantt.colour(stay)) for stay in chart.stays)
    return [
        [
            *(stay.job, stay.process, stay.begin, chart.top(stay)),
            *(colour, job_colours.ink(colour), stay.ended_by),
        ]
        for stay, colour in colours
    ]


@unittest.skipIf(NODE is None, "needs node")
class BoardCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        # Node.js takes files of this suffix for modules if a file beside them says so.
        (self.directory / "package.json").write_text('{"type": "module"}')
        shutil.copytree(pathlib.Path(api.__file__).parent / "static", self.directory / "static")
        for test in TESTS.glob("*.js"):
            shutil.copy(test, self.directory)


class TestBoardModules(BoardCase):
    def test_modules(self):
        command = [NODE, "--test", "--test-reporter=spec", *self.directory.glob("*.test.js")]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)


class TestPlotsAgree(BoardCase):
    """Plots show a schedule as the board's timeline does."""

    def setUp(self):
        super().setUp()
        self.board = subprocess.Popen(
            [NODE, self.directory / "agreement.js"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.board.wait, 60)
        self.addCleanup(self.board.stdout.close)
        self.addCleanup(self.board.stdin.close)

    def shown(self, drawn=(), *, sizes=None, hosts=None, waiting=()):
        """What the board shows."""
        asked = {
            "rows": list(map(row, drawn)),
            "hosts": hosts and [host._asdict() for host in hosts],
            "sizes": sizes and sizes._asdict(),
            "waiting": [f"u{job}" for job in waiting],
        }
        # Undefined in JavaScript: its own sizes.
        text = json.dumps({name: value for name, value in asked.items() if value is not None})
        print(text, file=self.board.stdin, flush=True)
        return json.loads(self.board.stdout.readline())

    @given(HISTORY)
    def test_what_was_exported(self, drawn):
        drawn = history(drawn)
        chart = exported(drawn, self.directory / "schedule.csv")
        board = self.shown(drawn, sizes=chart.layout.sizes)
        self.assertEqual(len(drawn), len(board["bars"]))
        self.assertEqual(sorted(board["bars"]), sorted(bars(chart)))

    @given(HISTORY, st.sets(st.integers(1, 6)))
    def test_jobs_that_wait_were_evicted(self, drawn, waiting):
        drawn = history(drawn)
        board = self.shown(drawn, waiting=waiting)
        ends = [[stay.begin, stay.job, stay.ended_by] for stay in stays.explained(drawn, waiting)]
        found = [[begin, job, end] for job, _process, begin, *_how, end in board["bars"]]
        self.assertCountEqual(ends, found)

    @given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), max_size=6))
    def test_lanes_of_any_hosts(self, shapes):
        hosts = [Host(f"node{n}", *shape) for n, shape in enumerate(shapes)]
        layout = Layout(hosts)
        for name, tier, number, top in self.shown(hosts=hosts)["lanes"]:
            self.assertEqual(top, layout.top(name, tier, number))

    def test_lanes_have_the_same_height(self):
        (first, second) = self.shown(hosts=[Host("a", 1, 2)])["lanes"]
        sizes = lanes.SIZES
        self.assertEqual([sizes.host, sizes.lane], [first[-1], second[-1] - first[-1]])

    def test_colours_of_all_jobs(self):
        drawn = [
            Stay(number, 0, "a", "fg", EPOCH + number, EPOCH + number + 1) for number in range(200)
        ]
        colours = {
            number: colour for number, *_where, colour, _ink, _end in self.shown(drawn)["bars"]
        }
        self.assertEqual({n: job_colours.of(n) for n in range(200)}, colours)
