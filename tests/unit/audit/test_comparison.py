"""Each disorder is found, by kind, and with what would repair it; what is just changing is not."""

import testtools

from nova_twotier.audit.comparison import compare
from nova_twotier.audit.findings import (
    Close,
    Drop,
    Enter,
    Kind,
    Points,
    Release,
    Seat,
    Sync,
)
from nova_twotier.ledger.claims import JobEntry
from nova_twotier.ledger.shape import Shape
from tests.unit.audit.builders import (
    BG,
    FG,
    agreeing,
    but,
    claim,
    host,
    migration,
    record,
    vm,
)


class CompareCase(testtools.TestCase):
    def found(self, *rows):
        """Each row: what it is about, the state, and kind, subject and fix of each finding."""
        for about, state, *expected in rows:
            found = [(each.kind, each.subject, each.fix) for each in compare(state)]
            self.assertEqual(expected, found, about)

    def agrees(self, *rows):
        for about, state in rows:
            self.assertEqual([], compare(state), about)


class TestHosts(CompareCase):
    def test_slots(self):
        grown = {"b": Shape(3, 2)}
        new = {"c": Shape(2, 2)}
        self.found(
            ("in no aggregate", but(hosts={"c": host("c")}), (Kind.STRAY_HOST, "c", Sync())),
            ("another shape", but(shapes=grown), (Kind.WRONG_SLOTS, "b", Sync())),
            ("tiers off", but(shapes={"b": Shape(2, 1)}), (Kind.WRONG_SLOTS, "b", Sync())),
            (
                "another pool",
                but(shapes={"b": Shape(2, 2, pool="gpu")}),
                (Kind.WRONG_SLOTS, "b", Sync()),
            ),
            (
                "no slots yet",
                but(shapes=new, reported=frozenset("abc")),
                (Kind.WRONG_SLOTS, "c", Sync()),
            ),
            (
                "came back, still retired",
                but(hosts={"b": host("b", retired=(FG, BG))}),
                (Kind.WRONG_SLOTS, "b", Sync()),
            ),
            ("unknown to Placement", but(shapes=new), (Kind.WRONG_SLOTS, "c", None)),
        )

    def test_in_order(self):
        self.agrees(
            ("all", agreeing()),
            ("left, all withheld", but(hosts={"c": host("c", retired=(FG, BG))})),
            (
                "K = 1, withheld",
                but(shapes={"b": Shape(2, 1)}, hosts={"b": host("b", retired=[BG])}),
            ),
        )


class TestOrphanClaims(CompareCase):
    def test_nobody_has_it(self):
        held = {"x": [claim("x", "a", BG)]}
        self.found(
            ("no server", but(claims=held), (Kind.ORPHAN_CLAIM, "x", Drop("x"))),
            ("no database", but(claims=held, jobs=None), (Kind.ORPHAN_CLAIM, "x", Drop("x"))),
            (
                "of a move that is over",
                but(claims=held, migrations=migration("x", "j/0")),
                (Kind.ORPHAN_CLAIM, "x", Drop("x", "j/0")),
            ),
            (
                "of a move of a server that is gone",
                but(claims=held, migrations=migration("x", "gone", "error")),
                (Kind.ORPHAN_CLAIM, "x", Drop("x", "gone")),
            ),
        )

    def test_a_cell_is_down(self):
        """Its migrations are not listed, nor of which job its servers are."""
        down = {"d": vm("d", None, "UNKNOWN", job=None, ours=False)}
        state = but(
            vms=down,
            claims={"x": [claim("x", "a", BG)]},
            entries={"k": JobEntry("k", BG, 3), "q": JobEntry("q", BG, 1)},
            jobs={"q": record("q", 1, tier=None)},
        )
        later = "nothing: a cell is down; look again when it is up"
        self.assertEqual(
            [
                (Kind.ORPHAN_CLAIM, "x", later, None),
                (Kind.ORPHAN_ENTRY, "k", later, None),
                (Kind.ORPHAN_ENTRY, "q", "take the entry out", Release("q")),
            ],
            [(each.kind, each.subject, each.repair, each.fix) for each in compare(state)],
        )

    def test_not_dropped_while_the_server_lives_on_it(self):
        shelved = vm("v", on=None, status="SHELVED_OFFLOADED", job=None)
        self.found(
            (
                "on the claim of its move",
                but(claims={"j/0": None, "x": [claim("x")]}, migrations=migration("x", "j/0")),
                (Kind.ORPHAN_CLAIM, "x", None),
                (Kind.MISSING_CLAIM, "j/0", Seat("j/0", "a", FG, ())),
            ),
            (
                "on no host",
                but(claims={"v": [claim("v")]}, vms={"v": shelved}),
                (Kind.ORPHAN_CLAIM, "v", None),
            ),
        )

    def test_just_moving(self):
        held = {"x": [claim("x", "b", BG)]}
        shelved = vm("v", None, "SHELVED_OFFLOADED", "spawning", None)
        self.agrees(
            ("under way", but(claims=held, migrations=migration("x", "j/0", "running"))),
            ("unconfirmed", but(claims=held, migrations=migration("x", "j/0", "finished"))),
            ("failed, may hold it", but(claims=held, migrations=migration("x", "j/0", "error"))),
            ("unshelved", but(claims={"v": [claim("v")]}, vms={"v": shelved})),
        )


class TestEntries(CompareCase):
    def test_orphans(self):
        extra = {"k": JobEntry("k", BG, 3)}
        queued = {"k": record("k", 3, tier=None)}
        names_it = {"v": vm("v", job="k", ours=False)}
        up, saved = vm("v", "b", job="k"), vm("v", None, "SHELVED_OFFLOADED", job="k")
        self.found(
            ("no such job", but(entries=extra), (Kind.ORPHAN_ENTRY, "k", Release("k"))),
            ("waits", but(entries=extra, jobs=queued), (Kind.ORPHAN_ENTRY, "k", Release("k"))),
            (
                "no such job, but servers",
                but(entries=extra, vms=names_it),
                (Kind.ORPHAN_ENTRY, "k", None),
            ),
            (
                "waits, but its servers hold slots, as after a restore of the database",
                but(entries=extra, jobs=queued, vms={"v": up}, claims={"v": [claim("v", "b", BG)]}),
                (Kind.ORPHAN_ENTRY, "k", None),
            ),
            (
                "waits with its state saved",
                but(entries=extra, jobs=queued, vms={"v": saved}),
                (Kind.ORPHAN_ENTRY, "k", Release("k")),
            ),
        )
        waiting = {"k": record("k", 3, tier=None, under_way=True)}
        self.agrees(
            ("being started", but(entries=extra, jobs=waiting)),
            ("no database", but(entries=extra, jobs=None)),
        )

    def test_missing_and_wrong(self):
        self.found(
            (
                "missing",
                but(entries={"j": None}),
                (Kind.MISSING_ENTRY, "j", Enter("j", 2, FG, {})),
            ),
            (
                "another size",
                but(entries={"j": JobEntry("j", FG, 1)}),
                (Kind.WRONG_ENTRY, "j", Enter("j", 2, FG, {})),
            ),
            (
                "another tier",
                but(entries={"j": JobEntry("j", BG, 2)}),
                (Kind.WRONG_ENTRY, "j", Enter("j", 2, FG, {})),
            ),
        )
        ending = {"j": record(under_way=True)}
        self.agrees(
            ("the job ends", but(entries={"j": None}, jobs=ending)),
            ("no database", but(entries={"j": None}, jobs=None)),
        )


class TestSeats(CompareCase):
    def test_wrong_seat(self):
        low, away = claim("j/0", "a", BG), claim("j/0", "b")
        here = claim("j/0", "a")
        self.found(
            (
                "tier of the job",
                but(claims={"j/0": [low]}),
                (Kind.WRONG_TIER, "j/0", Seat("j/0", "a", FG, (low,))),
            ),
            (
                "tier of the entry, without a database",
                but(claims={"j/0": [low]}, jobs=None),
                (Kind.WRONG_TIER, "j/0", Seat("j/0", "a", FG, (low,))),
            ),
            (
                "host",
                but(claims={"j/0": [away]}),
                (Kind.WRONG_HOST, "j/0", Seat("j/0", "a", FG, (away,))),
            ),
            (
                "two hosts",
                but(claims={"j/0": [here, away]}),
                (Kind.DOUBLE_CLAIM, "j/0", Seat("j/0", "a", FG, (here, away))),
            ),
            (
                "both tiers",
                but(claims={"j/0": [here, low]}),
                (Kind.DOUBLE_CLAIM, "j/0", Seat("j/0", "a", FG, (here, low))),
            ),
            (
                "none",
                but(claims={"j/0": None}),
                (Kind.MISSING_CLAIM, "j/0", Seat("j/0", "a", FG, ())),
            ),
        )

    def test_without_a_job(self):
        """The tier that it has is the one it should have; if it has both, nobody knows."""
        alone = {"v": vm("v", job=None)}
        low, high, away = claim("v", "a", BG), claim("v", "a"), claim("v", "b", FG)
        self.found(
            (
                "on another host",
                but(vms=alone, claims={"v": [away]}),
                (Kind.WRONG_HOST, "v", Seat("v", "a", FG, (away,))),
            ),
            (
                "also on another host",
                but(vms=alone, claims={"v": [low, away]}),
                (Kind.DOUBLE_CLAIM, "v", Seat("v", "a", BG, (low, away))),
            ),
            (
                "both tiers",
                but(vms=alone, claims={"v": [low, high]}),
                (Kind.DOUBLE_CLAIM, "v", None),
            ),
            ("none", but(vms=alone), (Kind.MISSING_CLAIM, "v", None)),
        )
        self.agrees(("background", but(vms=alone, claims={"v": [low]})))

    def test_suspended(self):
        """Its job waits: it stays on its host without a slot, unlike one that runs."""
        asleep = but(
            vms={"j/0": vm("j/0", "a", "SUSPENDED"), "j/1": vm("j/1", "b", "SHUTOFF", index=1)},
            claims={"j/0": None, "j/1": None},
            entries={"j": None},
        )
        self.agrees(("its job waits", but(asleep, jobs={"j": record(tier=None)})))
        self.found(
            (
                "its job has a tier",
                but(asleep, vms={"j/1": None}, entries={"j": JobEntry("j", FG, 2)}),
                (Kind.MISSING_CLAIM, "j/0", Seat("j/0", "a", FG, ())),
            )
        )

    def test_host_without_slots(self):
        elsewhere = {"j/0": vm("j/0", on="z")}
        self.found(
            ("claims elsewhere", but(vms=elsewhere), (Kind.WRONG_HOST, "j/0", None)),
        )

    def test_just_changing(self):
        wrong = {"j/0": [claim("j/0", "b", BG)]}
        double = {"j/0": [claim("j/0", "a"), claim("j/0", "b")]}
        for status, task in (
            ("ACTIVE", "migrating"),
            ("BUILD", None),
            ("MIGRATING", None),
            ("RESIZE", None),
            ("VERIFY_RESIZE", None),
            ("REVERT_RESIZE", None),
            ("UNKNOWN", None),
            ("DELETED", None),
            ("SOFT_DELETED", None),
        ):
            changing = {"j/0": vm("j/0", status=status, task=task)}
            self.agrees(
                (status, but(claims=wrong, vms=changing)),
                (status, but(claims={"j/0": None}, vms=changing)),
                (status, but(claims=double, vms=changing)),
            )
        self.agrees(
            (
                "evacuated, and its old host is not back",
                but(claims=double, migrations=migration("m", "j/0", "done")),
            ),
            ("the manager moves it", but(claims=wrong, jobs={"j": record(under_way=True)})),
            ("not ours", but(vms={"v": vm("v", job=None, ours=False)})),
        )

    def test_a_move_long_over_excuses_nothing(self):
        both = [claim("j/0", "a"), claim("j/0", "b")]
        for status in ("completed", "error"):
            state = but(claims={"j/0": both}, migrations=migration("m", "j/0", status))
            self.assertEqual([Kind.DOUBLE_CLAIM], [each.kind for each in compare(state)])


class TestPoints(CompareCase):
    def test_points(self):
        none, measured = claim("j/0", points=0), claim("j/0", points=30)
        self.found(
            (
                "missing",
                but(claims={"j/0": [none]}),
                (Kind.MISSING_POINTS, "j/0", Points("j/0", 50, (none,))),
            ),
        )
        stranger = {"v": vm("v", index=None)}
        third = {"v": vm("v", index=2)}
        held = {"v": [claim("v", points=0)]}
        self.agrees(
            ("measured", but(claims={"j/0": [measured]})),
            ("no database", but(claims={"j/0": [none]}, jobs=None)),
            ("a server that only names the job", but(vms=stranger, claims=held)),
            ("a third server of two", but(vms=third, claims=held)),
        )


class TestClosed(CompareCase):
    hot = {"j": record(cpu=0.96)}
    points = {"j/0": [claim("j/0", "a", points=96)], "j/1": [claim("j/1", "b", points=96)]}

    def test_closed(self):
        self.found(
            (
                "too few",
                but(jobs=self.hot, claims=self.points, hosts={"a": host("a", reserved=1)}),
                (Kind.WRONG_CLOSED, "b", Close("b", 1)),
            ),
            (
                "too many",
                but(hosts={"a": host("a", reserved=2)}),
                (Kind.WRONG_CLOSED, "a", Close("a", 0)),
            ),
            (
                "K = 3: each slot is two places",
                but(
                    shapes={"a": Shape(2, 3)},
                    hosts={"a": host("a", tiers=3, reserved=1), "b": host("b", reserved=1)},
                    jobs=self.hot,
                    claims=self.points,
                ),
                (Kind.WRONG_CLOSED, "a", Close("a", 1)),
            ),
            (
                "by a server that is no job's",
                but(
                    claims={"own": [claim("own", "b", points=97)]},
                    vms={"own": vm("own", "b", job=None, ours=False)},
                ),
                (Kind.WRONG_CLOSED, "b", Close("b", 1)),
            ),
        )

    def test_a_process_that_is_about_to_migrate_there(self):
        jobs = {"j": record(), "k": record("k", under_way=True, targets=frozenset({"a"}))}
        self.agrees(("closed before", but(jobs=jobs, hosts={"a": host("a", reserved=1)})))

    def test_not_judged(self):
        one = host("a", reserved=1)
        coming = {"v": vm("v", status="BUILD", task="spawning", job=None)}
        self.agrees(
            ("no database", but(hosts={"a": one}, jobs=None)),
            ("a VM comes", but(hosts={"a": one}, vms=coming, claims={"v": [claim("v", "a", BG)]})),
        )


class TestServers(CompareCase):
    """A job that runs, and one of whose servers was deleted: Nova drops its claim, too."""

    def lacking(self, **job):
        gone = {"j/0": None}
        return but(vms=gone, claims=gone, jobs={"j": record(**job)})

    def test_without_a_manager(self):
        state = self.lacking(managed=False)
        self.found(("one deleted", state, (Kind.MISSING_SERVER, "j", None)))
        [finding] = compare(state)
        self.assertEqual(
            ("1 of its servers", "2 servers, as the job runs"), (finding.found, finding.wanted)
        )

    def test_not_judged(self):
        unknown = {"z": vm("z", None, "UNKNOWN", job=None)}
        self.agrees(
            ("a manager is about to notice", self.lacking()),
            ("it has noticed, and was stopped", self.lacking(managed=False, under_way=True)),
            ("a cell is down", but(self.lacking(managed=False), vms=unknown)),
            ("all there", but(jobs={"j": record(managed=False)})),
            ("waits", but(jobs={"k": record("k", tier=None, managed=False)})),
        )


class TestOrder(CompareCase):
    def test_room_is_made_before_it_is_taken(self):
        state = but(
            hosts={"c": host("c")},
            claims={"x": [claim("x", "a", BG)], "j/0": [claim("j/0", "a", BG, 0)]},
            entries={"k": JobEntry("k", BG, 1)},
        )
        kinds = [each.kind for each in compare(state)]
        self.assertEqual(
            [
                Kind.STRAY_HOST,
                Kind.ORPHAN_CLAIM,
                Kind.ORPHAN_ENTRY,
                Kind.WRONG_TIER,
                Kind.MISSING_POINTS,
            ],
            kinds,
        )
