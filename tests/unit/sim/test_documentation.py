"""The simulator's commands in the documentation work, and print what it shows."""

import gzip
import json
import os
import pathlib
import re
import shlex

from nova_twotier.sim.reproduce import policy_study, symmetry_setting
from tests.documented.runners import commands_of
from tests.unit.sim.test_cli import LINE, CommandCase

ROOT = pathlib.Path(__file__).parents[3]
#: What the reader fills in, or the shell; and what there is here.
NAMES = {
    "DIR": "traces",
    "DIR-$part": "out",
    "$part": "KTH",
    "$KTH": "traces/KTH-SP2-1996-2.swf.gz",
    "KTH.swf.gz": "traces/KTH-SP2-1996-2.swf.gz",
    "NASA.swf": "traces/NASA-iPSC-1993-3.1-cln.swf.gz",
    "/data/swf": "traces",
}
#: Arguments that only make it longer, and what they are here.
SHORTER = {"--seeds": "1", "--head": "20", "--loads": "0.7", "--load": "0.8"}
#: So that no processes are started.
PARALLEL = ("sweep", "reproduce")
JOB = {"cpu": 0.6, "estimate": 9000.0, "foreground": True, "background": True}
RUNNING = {"tier": "fg", "hosts": [f"host{number // 4}" for number in range(12)]}
#: Of a queue, as `twotier-manage snapshot` writes it.
STATE = {
    "format": "nova-twotier queue state",
    "version": 1,
    "pool": "default",
    "at": 10000.0,
    "policy": "amcbf",
    "hosts": [{"name": f"host{number}", "slots": 4} for number in range(4)],
    "jobs": [
        {**JOB, "number": 16, "size": 12, "arrival": 0.0, "done": 5000.0, **RUNNING},
        {**JOB, "number": 17, "size": 8, "arrival": 9000.0},
    ],
}


class Directory(CommandCase):
    def setUp(self):
        super().setUp()
        before = pathlib.Path.cwd()
        os.chdir(self.directory)
        self.addCleanup(os.chdir, before)


class TestCommands(Directory):
    """All of them, in their order, on short workloads."""

    def setUp(self):
        super().setUp()
        # As long as KTH's, for the times that the pages name.
        jobs = [
            (number, 100_000 * number, 60_000 + 9_000 * (number % 17), 1 + 7 * number % 61, 250_000)
            for number in range(1, 120)
        ]
        lines = (LINE.format(n, at, run, size, size, wanted) for n, at, run, size, wanted in jobs)
        text = "; MaxProcs: 100\n" + "".join(lines)
        pathlib.Path("traces").mkdir()
        for source in (*policy_study.TRACES.values(), *symmetry_setting.TRACES.values()):
            with gzip.open(f"traces/{source.file}.swf.gz", "wt") as stream:
                stream.write(text)
        pathlib.Path("state.json").write_text(json.dumps(STATE))

    def filled(self, words):
        """What runs for a command: the same one, with less to do."""
        filled = []
        for before, word in zip(("", *words), words, strict=False):
            word = NAMES.get(word, SHORTER.get(before, word))
            filled.append(re.sub(r"^(feitelson|lublin|memoryless):\d+", r"\1:40", word))
        if filled[0] in PARALLEL:
            filled += ["--jobs", "1"]
        if filled[0] == "reproduce":
            filled += ["--seeds", "1", "--head", "20"]
            # Those that lie beside the checkout are not the default here.
            filled += [] if "--traces" in filled else ["--traces", "traces"]
        return filled

    def test_each(self):
        count = 0
        for command in commands_of("tests/unit/sim/test_documentation.py"):
            words = self.filled(command.words[1:])
            code, _out, error = self.main(*words)
            # The traces here are not those of the archive.
            expected = 1 if words[:2] == ["traces", "verify"] else 0
            self.assertEqual(expected, code, f"{command}\n{shlex.join(words)}\n{error}")
            count += 1
        self.assertGreater(count, 20)


class TestTranscripts(Directory):
    def test_what_if(self):
        # A command in a line of its own, then what it prints, or some lines of that.
        shown = re.findall(
            r"^`twotier-sim (what-if [^`]+)`\n(\(excerpt\):\n)?\n```text\n(.*?)^```$",
            (ROOT / "doc" / "simulator" / "what-if.md").read_text(),
            re.MULTILINE | re.DOTALL,
        )
        self.assertEqual(2, len(shown))
        for command, excerpt, text in shown:
            printed = self.works(*shlex.split(command))
            if excerpt:
                self.assertEqual(
                    [], [x for x in text.splitlines() if x not in printed.splitlines()]
                )
            else:
                self.assertEqual(text, printed)
