"""Reasons: their texts, how they are stored, and that the list of codes is what is used."""

import ast
import json
import pathlib
import re

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import reasons
from nova_twotier.core.actions import StartKind
from nova_twotier.core.reasons import CODES, LEGACY, PARTS, Effect, changes, failures, waits
from nova_twotier.core.reasons.reason import EFFECTS

ROOT = pathlib.Path(__file__).parents[3]
VALUES = st.one_of(st.text(max_size=9), st.integers(), st.floats(allow_nan=False))


@st.composite
def any_reason(draw):
    code = draw(st.sampled_from(list(CODES.values())))
    fields = [field for field in code.fields if field != "by"]
    given_values = {field: draw(st.none() | VALUES) for field in fields}
    by = draw(st.none() | st.integers(1, 10**6))
    return code(by, draw(st.none() | st.sampled_from(Effect)), **given_values)


class TestReason(testtools.TestCase):
    def test_parts_without_their_parameters_are_left_out(self):
        for reason, text in (
            (waits.SLOTS(size=4, idle=2), "needs 4 foreground slots, 2 idle"),
            (
                waits.SLOTS(size=4, idle=2, later=1),
                "needs 4 foreground slots, 2 idle + 1 held by later jobs",
            ),
            (
                waits.SLOTS(size=4, idle=2, open=0),
                "needs 4 foreground slots, 2 idle; or 4 background slots, 0 open and idle",
            ),
            (waits.TURN(7), "waits behind job 7"),
            (
                failures.OVERDUE(seconds=60.0, server="s1", status="SHUTOFF", task="powering-on"),
                "not over after 60 s: server s1 is SHUTOFF (powering-on)",
            ),
            (
                failures.OVERDUE(seconds=2.5, server="s1", status="ERROR"),
                "not over after 2.5 s: server s1 is ERROR",
            ),
            (
                changes.SAVE_TIMEOUT(3, seconds=600.0),
                "preempted by job 3, begins anew: its state could not be saved within 600 s",
            ),
            (
                changes.SAVE_TIMEOUT(seconds=600.0),
                "begins anew: its state could not be saved within 600 s",
            ),
        ):
            self.assertEqual(text, str(reason))

    def test_one_is_no_plural(self):
        for reason, text in (
            (waits.SLOTS(size=1, idle=0, open=0), "needs 1 foreground slot, 0 idle; or 1 back"),
            (waits.SLOT_LIMIT(size=1, tier="bg", per="user"), "needs 1 background slot; its user"),
            (waits.TREE_SLOTS(size=1, free=0, slots=1), "needs 1 slot in one tree of the network"),
            (waits.DELAY(2, idle=1), "would fit the 1 idle foreground slot, but"),
            (waits.BANDWIDTH(size=1, mbps=5, free=1), "no switch has 1 free slot below it with 5"),
            (failures.TOO_MANY_SERVERS(servers=1, size=2), "it has 1 server for 2 processes"),
            (waits.SLOTS(size=11, idle=1), "needs 11 foreground slots, 1 idle"),
            # What a job or its owner is called stays as it is.
            (waits.TURN(7), "waits behind my 1 slots"),
        ):
            self.assertStartsWith(text, reason.text(lambda _number: "my 1 slots"))

    def assertStartsWith(self, start, text):
        self.assertEqual(start, text[: len(start)])

    def test_effects(self):
        for effect, text in (
            (Effect.NOT_STARTED, "did not start: its servers are off"),
            (Effect.RESTARTED, "restarts from the beginning: its servers are off"),
            (Effect.GIVEN_UP, "its servers are off, and its retries are used up"),
            (Effect.POWERED_ON, "its servers were started again: its servers are off"),
            (Effect.SAVED, "its servers are off, state saved"),
            (Effect.LOST, "its servers are off, begins anew"),
        ):
            self.assertEqual(text, str(failures.SERVERS_OFF().led_to(effect)))
        self.assertEqual(set(Effect), set(EFFECTS))

    def test_long_times_are_shown_whole(self):
        self.assertIn("1209600 s", str(failures.WALLTIME(walltime=14 * 86400.0)))

    def test_who_reads_it_names_the_job(self):
        names = {7: "the first one"}
        self.assertEqual("waits behind the first one", waits.TURN(7).text(names.__getitem__))

    def test_what_others_wrote_is_not_taken_for_a_template(self):
        reason = failures.NO_VALID_HOST(server="s1", fault="{server} [of {by}] {}")
        text = "did not start: server s1 is in ERROR: {server} [of {by}] {}"
        self.assertEqual(text, str(reason.led_to(Effect.NOT_STARTED)))

    def test_more_parameters(self):
        reason = waits.TURN(7, size=2, idle=1).led_to(Effect.SAVED).plus(open=3)
        self.assertEqual(waits.TURN(7, Effect.SAVED, size=2, idle=1, open=3), reason)

    def test_wrong_parameters(self):
        self.assertRaises(TypeError, waits.SLOTS, size=4, slots=2)

    def test_the_order_of_parameters_makes_no_difference(self):
        self.assertEqual(waits.SLOTS(size=4, idle=2), waits.SLOTS(idle=2, size=4))

    @given(any_reason())
    def test_stored_and_read(self, reason):
        stored = json.loads(json.dumps(reasons.dump(reason)))
        self.assertEqual(reason, reasons.load(stored))
        self.assertIs(reason.code, reasons.load(stored).code)

    @given(any_reason())
    def test_only_the_reader_decides_what_a_job_is_called(self, reason):
        if reason.by is not None and "by" in reason.code.fields:
            texts = {reason.text(lambda _number: "A"), reason.text(lambda _number: "B")}
            self.assertEqual(2, len(texts))

    def test_what_a_newer_release_wrote(self):
        newer = {"code": "new", "parameters": {"a": 1}, "by": 3, "effect": "new"}
        self.assertEqual("for the reason new", str(reasons.load(newer)))
        newer["code"] = "preempted"
        self.assertEqual("preempted by job 3", str(reasons.load(newer)))
        grown = {"code": "turn", "parameters": {"size": 1, "new": 2}, "by": 3}
        self.assertEqual(waits.TURN(3, size=1), reasons.load(grown))


class TestCodes(testtools.TestCase):
    def test_names(self):
        codes = [code for part in PARTS for code in vars(part).values() if hasattr(code, "cure")]
        self.assertEqual(len(codes) + 1, len(CODES), "each name once")
        for name in CODES:
            self.assertRegex(name, r"^[a-z]+(-[a-z]+)*$")
            self.assertLessEqual(len(name), 32, "the length of the column")

    def test_each_has_its_meaning_and_cure(self):
        sentence = re.compile(r"^[A-Z`].*[.?]$")
        for code in CODES.values():
            for text in (code.meaning, code.cure):
                self.assertRegex(text, sentence, code.name)
            self.assertNotRegex(code.text, r"\[[^\]]*\[", "parts do not nest")
        meanings = [code.meaning for code in CODES.values()]
        self.assertEqual(len(meanings), len(set(meanings)))

    def test_every_start_has_one(self):
        self.assertEqual({str(how) for how in StartKind}, set(changes.STARTS))
        for how, code in changes.STARTS.items():
            self.assertRegex(str(code(tier="fg")), "^in the foreground, [a-z ]+$", how)

    def test_tiers_in_words(self):
        self.assertEqual("in the background, immediately", str(changes.IMMEDIATE(tier="bg")))
        # Programs get what they always got.
        self.assertEqual((("tier", "bg"),), changes.IMMEDIATE(tier="bg").parameters)

    def test_none_is_dead(self):
        """Code outside of the list names every one, or it is one of a start."""
        named = set()
        for path in (ROOT / "nova_twotier").rglob("*.py"):
            if path.parent.name == "reasons":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    named.add((node.value.id, node.attr))
        for part in PARTS:
            module = part.__name__.rpartition(".")[2]
            for variable, code in vars(part).items():
                # `changes.moved` and `changes.STARTS` stand for these.
                indirect = code in (*changes.STARTS.values(), changes.MOVED, changes.DEMOTED)
                if isinstance(code, reasons.Code) and not indirect:
                    self.assertIn((module, variable), named, "nobody gives this reason")
        self.assertLessEqual({("changes", "STARTS"), ("changes", "moved")}, named)

    def test_texts_of_earlier_releases(self):
        self.assertEqual("a {text} [of] old", str(LEGACY(before="a {text} [of] old")))
        self.assertEqual("by job 3, done", str(LEGACY(3, before="by ", after=", done")))
