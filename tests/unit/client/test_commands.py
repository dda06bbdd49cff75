"""`openstack twotier ...` against the real API: what is printed, and one line for each mistake."""

import functools
import re
import textwrap
import time
import types

import fixtures
import yaml
from openstack.exceptions import ForbiddenException
from sqlalchemy import delete

from nova_twotier.client import filters, progress
from nova_twotier.client.commands import queue
from nova_twotier.client.rest import Api, ApiError
from nova_twotier.core.reasons import Effect, changes, failures, waits
from nova_twotier.db import models
from tests.unit.api.case import OTHER
from tests.unit.client.case import CommandCase, commands


def without_uuids(text):
    """Uuids as those of no job, of the same length."""
    return re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", OTHER, text)


class TestHelp(CommandCase):
    def test_every_command_has_some(self):
        names = [name for name, _entry in commands() if name.startswith("twotier ")]
        self.assertEqual(28, len(names))
        for name in names:
            command, _name, _rest = commands().find_command(name.split())
            text = command(None, None).get_parser(name).format_help()
            self.assertIn(command.__doc__.split()[0], text)


class TestWords(CommandCase):
    """What options offer is what the API knows."""

    def test_states_and_modes(self):
        self.assertEqual({str(state) for state in models.JobState}, set(filters.STATES))
        self.assertEqual({str(mode) for mode in models.QueueMode}, set(queue.MODES))


class TestList(CommandCase):
    def test_a_table(self):
        job = self.submit(name="solver", size=4)
        self.change(job, submitted_at=0.0, run_before=3723.0, reason=waits.PAUSED())
        self.assertEqual(
            textwrap.dedent(f"""\
            +--------+--------------------------------------+--------+------+--------+------+----------------------+----------------+---------+---------------------+
            | Number | UUID                                 | Name   | Size | State  | Tier | Submitted            | Expected Start | Elapsed | Reason              |
            +--------+--------------------------------------+--------+------+--------+------+----------------------+----------------+---------+---------------------+
            | 1      | {OTHER} | solver |    4 | queued |      | 1970-01-01T00:00:00Z |                | 1:02:03 | the queue is paused |
            +--------+--------------------------------------+--------+------+--------+------+----------------------+----------------+---------+---------------------+
            """),  # noqa: E501
            without_uuids(self.succeed("job", "list")),
        )

    def test_formats(self):
        self.submit(name="a, b")
        self.assertEqual("a, b\n", self.succeed("job", "list", "-f", "value", "-c", "Name"))
        self.assertEqual(
            '"Name","Size"\n"a, b",1\n',
            self.succeed("job", "list", "-f", "csv", "-c", "Name", "-c", "Size"),
        )
        [row] = self.shown("job", "list")
        self.assertEqual(("a, b", 1, None), (row["Name"], row["Size"], row["Tier"]))
        self.assertEqual([row], yaml.safe_load(self.succeed("job", "list", "-f", "yaml")))

    def test_formats_without_types(self):
        """An empty text is empty, as in other commands of OpenStack; null is None."""
        self.submit(name="")
        chosen = ("-c", "Name", "-c", "Size", "-c", "Tier")
        self.assertEqual(" 1 None\n", self.succeed("job", "list", "-f", "value", *chosen))
        chosen = ("-c", "name", "-c", "tier")
        self.assertEqual(
            'name=""\ntier="None"\n', self.succeed("job", "show", "1", "-f", "shell", *chosen)
        )
        self.assertEqual({"name": None, "tier": None}, self.shown("job", "show", "1", *chosen))

    def test_filters(self):
        for name in "abc":
            self.submit(name=name)
        self.submit("bob:other", name="theirs")

        def names(*options, by="alice:demo"):
            return [row["Name"] for row in self.shown("job", "list", *options, by=by)]

        self.assertEqual(["c", "b", "a"], names())
        self.assertEqual(["c", "b"], names("--limit", "2"))
        self.assertEqual(["b"], names("--name", "b", "--state", "queued"))
        self.assertEqual([], names("--state", "running"))
        self.assertEqual(["theirs", "c", "b", "a"], names("--all-projects", by="admin:admin"))

    def test_a_pool_that_is_not_there(self):
        self.change(self.submit(name="old"), pool="retired", state=models.JobState.FINISHED)
        # Its jobs are still there.
        [row] = self.shown("job", "list", "--all", "--pool", "retired")
        self.assertEqual("old", row["Name"])
        self.assertEqual([], self.shown("job", "list", "--pool", "default"))
        for words in (
            ("job", "list"),
            ("job", "cancel"),
            ("usage", "show"),
            ("usage", "list"),
        ):
            error = self.refused(*words, "--pool", "nope")
            self.assertEqual("there is no such pool, only default (HTTP 404)", error)

    def test_nothing_of_a_pool_where_the_queue_is_not_for_tenants(self):
        for error in (ApiError("forbidden", 403), ApiError("does not answer")):
            self.useFixture(fixtures.MockPatchObject(Api, "queue", side_effect=error))
            self.assertEqual([], self.shown("job", "list", "--pool", "nope"))

    def test_sorted_by_number(self):
        for _each in range(10):
            self.submit()
        rows = self.shown("job", "list", "--sort-column", "Number")
        self.assertEqual([str(number) for number in range(1, 11)], [row["Number"] for row in rows])

    def test_which_of_those_that_are_over(self):
        states = models.JobState
        for name, state, at in (
            ("long-ago", states.FAILED, 0.0),
            ("just-now", states.FINISHED, time.time()),
            ("runs", states.RUNNING, None),
            ("waits", states.QUEUED, None),
        ):
            self.change(self.submit(name=name), state=state, finished_at=at)
        for options, expected in {
            (): ["waits", "runs"],
            ("--all",): ["waits", "runs", "just-now", "long-ago"],
            ("--since", "1h"): ["waits", "runs", "just-now"],
            ("--since", "1970-01-01T00:00:00Z"): ["waits", "runs", "just-now", "long-ago"],
            ("--state", "failed"): ["long-ago"],
            ("--state", "failed", "--state", "queued"): ["waits", "long-ago"],
            ("--name", "*-*", "--all"): ["just-now", "long-ago"],
            ("--name", "runs"): ["runs"],
            ("--user", "bob"): [],
            ("--user", "alice"): ["waits", "runs"],
        }.items():
            rows = self.shown("job", "list", *options)
            self.assertEqual(expected, [row["Name"] for row in rows], options)

    def test_which_classes(self):
        for name, qos in (("a", "urgent"), ("b", "normal"), ("c", "scavenger")):
            self.change(self.submit(name=name), qos=qos)
        for options, expected in {
            ("--qos", "scavenger"): ["c"],
            ("--qos", "urgent", "--qos", "scavenger"): ["c", "a"],
            ("--qos", "urgent", "--name", "b"): [],
        }.items():
            rows = self.shown("job", "list", *options)
            self.assertEqual(expected, [row["Name"] for row in rows], options)
        [row] = self.shown("job", "cancel", "--qos", "scavenger")
        self.assertEqual(["cancel", None], [row["Asked To"], self.store.job(1).requested_action])

    def test_mistakes(self):
        for options, expected in {
            ("--limit", "-1"): "'-1' is not a whole number of at least 1",
            ("--limit", "0"): "'0' is not a whole number of at least 1",
            ("--since", "2026-01-31"): "'2026-01-31': give a time with its zone, such as",
            ("--since", "1h", "--all"): "not allowed with argument --since",
        }.items():
            code, _out, error = self.openstack("job", "list", *options)
            self.assertEqual(2, code, options)
            self.assertIn(expected, error)

    def test_more_columns(self):
        self.submit()
        [row] = self.shown("job", "list", "--long", "--all-projects", by="admin:admin")
        self.assertEqual(("demo", "default", 0), (row["Project"], row["Pool"], row["Swaps"]))

    def test_others_projects_are_for_administrators(self):
        self.assertIn("(HTTP 403)", self.refused("job", "list", "--all-projects"))


class TestUsers(CommandCase):
    """Users of Keystone, by name."""

    ALICE, BOB = "a" * 32, "b" * 32

    def setUp(self):
        super().setUp()
        self.services = {"identity"}
        self.sdk.current_user_id = self.ALICE
        self.sdk.identity = types.SimpleNamespace(find_user=self.find_user)

    def clients(self, token):
        clients = super().clients(token)
        clients.get_configuration = lambda: {"auth": {"username": "alice"}}
        return clients

    def find_user(self, name, ignore_missing):
        if name == "secret":
            raise ForbiddenException
        return types.SimpleNamespace(id=self.BOB) if name == "bob" else None

    def test_names_and_ids(self):
        for user in (self.ALICE, self.BOB):
            self.submit(f"{user}:demo")
        for name, expected in (("alice", self.ALICE), ("bob", self.BOB), (self.BOB, self.BOB)):
            [row] = self.shown("job", "list", "--user", name)
            self.assertEqual(expected, self.store.find(row["UUID"]).user_id)

    def test_mistakes(self):
        self.assertEqual(
            "there is no user 'eve' for you; see openstack user list",
            self.refused("job", "list", "--user", "eve"),
        )
        self.assertEqual(
            "Keystone does not let you look up user 'secret': give the id, which job show has",
            self.refused("job", "list", "--user", "secret"),
        )


class TestShow(CommandCase):
    def test_people_see_times_to_the_second_and_durations_as_a_clock(self):
        self.change(self.submit(name="solver"), run_since=0.123, run_before=3723.456)
        fields = ("-c", "run_since", "-c", "run_before")
        table = self.succeed("job", "show", "solver", *fields)
        self.assertEqual(
            {"run_since": "1970-01-01T00:00:00Z", "run_before": "1:02:03"},
            dict(line.split()[1:4:2] for line in table.splitlines() if "run_" in line),
        )
        self.assertEqual(
            {"run_since": "1970-01-01T00:00:00.123+00:00", "run_before": 3723.456},
            self.shown("job", "show", "solver", *fields),
        )

    def test_every_field_but_the_links(self):
        job = self.submit(name="solver", size=2, cpu=[0.9, 0.4])
        shown = self.shown("job", "show", "solver")
        del job["links"]
        renamed = {
            f"{name}_{which}{bound}"
            for name in ("predicted", "expected")
            for which in ("start", "finish")
            for bound in ("", "_low", "_high")
        }
        same = [name for name in job if name not in renamed]
        self.assertEqual([job[name] for name in same], [shown[name] for name in same])
        self.assertEqual(renamed, set(job) ^ set(shown))

    def test_for_people(self):
        self.submit(name="solver", size=2, cpu=0.5)
        table = self.succeed("job", "show", "solver", "-c", "cpu", "-c", "name")
        self.assertIn("| cpu   | 0.5    |", table)
        self.submit(name="mixed", size=2, cpu=[0.9, 0.4])
        table = self.succeed("job", "show", "mixed", "-c", "cpu")
        self.assertIn("| cpu   | 0.9, 0.4 |", table)

    def test_servers_for_people(self):
        job = self.submit(name="solver", size=2)
        first = self.hold_slot(job, 0, "bg", "host1", since=10.0, until=3610.0)
        self.hold_slot(job, 1, "fg", "host2", since=10.0, until=10.0)
        self.change(job, state=models.JobState.FINISHED, exit_status=0)
        fields = ("foreground_elapsed", "background_elapsed", "servers", "exit_status")
        shown = [word for field in fields for word in ("-c", field)]
        self.assertEqual(
            textwrap.dedent(f"""\
            +--------------------+---------------------------------------------------------------+
            | Field              | Value                                                         |
            +--------------------+---------------------------------------------------------------+
            | exit_status        | 0                                                             |
            | foreground_elapsed | 0:00:00                                                       |
            | background_elapsed | 0:30:00                                                       |
            | servers            | tt-1-1: was bg on host1, {OTHER} |
            |                    | tt-1-2: was fg on host2, {OTHER} |
            +--------------------+---------------------------------------------------------------+
            """),
            without_uuids(self.succeed("job", "show", "solver", *shown, by="admin:demo")),
        )
        tenants = self.succeed("job", "show", "solver", "-c", "servers")
        self.assertIn(f"| servers | tt-1-1: was bg, {first} |", tenants)

    def test_many_servers_for_people(self):
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.columns.MOST_SERVERS", 1))
        job = self.submit(size=3)
        for process in range(3):
            self.hold_slot(job, process)
        table = self.succeed("job", "show", job["uuid"], "-c", "servers")
        self.assertIn("|         | and 2 more: see -f json", table)
        self.assertNotIn("tt-1-2", table)
        self.assertEqual(3, len(self.shown("job", "show", job["uuid"])["servers"]))

    def test_explain(self):
        job = self.submit(name="solver")
        self.happen(job, "started", reason=changes.IMMEDIATE(tier="fg"), at=4e9)
        told = self.shown("job", "explain", "solver")
        self.assertEqual((job["uuid"], 1), (told["uuid"], told["position"]))
        self.assertEqual("waits; the manager has not decided about it yet", told["reason"])
        self.assertEqual(["submitted", "started"], [event["kind"] for event in told["events"]])
        table = self.succeed("job", "explain", job["uuid"])
        self.assertIn("| 2096-10-02T07:06:40Z started: in the foreground, immediately", table)

    def test_explain_says_who_asked(self):
        job = self.submit(name="solver")
        self.succeed("job", "hold", "solver")
        self.succeed("job", "cancel", job["uuid"], by="carol:ops:admin")
        told = self.succeed("job", "explain", "solver")
        self.assertIn("Z held by alice", told)
        self.assertIn("Z asked to cancel by an operator", told)
        rows = self.shown("event", "list", "--job", "solver")
        self.assertEqual(["alice", "alice", None], [row["User"] for row in rows])

    def test_explain_without_a_manager(self):
        job = self.submit(name="solver")
        self.last_beat(23_280.0)
        told = self.shown("job", "explain", "solver")
        self.assertEqual(
            "waits; the manager has not decided about it yet; "
            "no manager since 1970-01-01T06:28:00Z",
            told["reason"],
        )
        self.assertEqual(
            "Tell the operator that no queue manager is at work. A job that runs continues.",
            told["cure"],
        )
        self.change(job, state="finished")
        self.assertEqual("is finished", self.shown("job", "explain", "solver")["reason"])

    def test_explain_for_people(self):
        job = self.submit(name="solver")
        with self.store.transaction() as session:
            session.execute(delete(models.Event))
        reason = changes.PREEMPTED(self.store.find(job["uuid"]).number).led_to(Effect.SAVED)
        self.change(job, reason=reason, saved=True, uuid=OTHER)
        self.happen({"uuid": OTHER}, "evicted", reason=reason, at=4e9)
        self.happen({"uuid": OTHER}, "held", at=4e9)
        self.assertEqual(
            textwrap.dedent(f"""\
            +-----------------+--------------------------------------------------------------------------+
            | Field           | Value                                                                    |
            +-----------------+--------------------------------------------------------------------------+
            | number          | 1                                                                        |
            | uuid            | {OTHER}                                     |
            | array           |                                                                          |
            | state           | queued                                                                   |
            | reason          | preempted by job 1 (solver), state saved                                 |
            | why             | preempted                                                                |
            | cure            | It starts again by itself; what is kept until then, `--preemption` says. |
            | position        | 1                                                                        |
            | expected_start  |                                                                          |
            | expected_finish |                                                                          |
            | predicted_at    |                                                                          |
            | unpredicted     | nothing has been predicted since it was submitted or changed             |
            | unblock         |                                                                          |
            | predictions     | none yet                                                                 |
            | begin_at        |                                                                          |
            | dependencies    |                                                                          |
            | events          | 2096-10-02T07:06:40Z evicted: preempted by job 1 (solver), state saved   |
            |                 | 2096-10-02T07:06:40Z held                                                |
            +-----------------+--------------------------------------------------------------------------+
            """),  # noqa: E501
            self.succeed("job", "explain", OTHER),
        )

    def test_why_for_programs(self):
        job = self.submit(name="solver")
        self.change(job, reason=waits.SLOTS(size=4, idle=2))
        for verb in ("show", "explain"):
            self.assertEqual(
                ("slots", {"size": 4, "idle": 2}),
                (
                    self.shown("job", verb, "solver")["why"]["code"],
                    self.shown("job", verb, "solver")["why"]["parameters"],
                ),
            )
        codes = self.succeed("job", "list", "--long", "-f", "value", "-c", "Why")
        self.assertEqual("slots\n", codes)

    def test_none(self):
        for verb in ("show", "explain"):
            self.assertEqual(
                "there is no job 'solver' in your project", self.refused("job", verb, "solver")
            )


class TestWishes(CommandCase):
    def test_several_at_once(self):
        first, second = self.submit(name="a"), self.submit(name="b")
        rows = self.shown("job", "cancel", str(first["number"]), "b", "b")
        self.assertEqual(["cancel", "cancel"], [row["Asked To"] for row in rows])
        for job in (first, second):
            self.assertEqual("cancel", self.store.find(job["uuid"]).requested_action)

    def test_each_does_what_it_says(self):
        job = self.submit(name="a")
        self.assertEqual(True, self.shown("job", "hold", "a")[0]["Held"])
        self.assertEqual(False, self.shown("job", "release", "a")[0]["Held"])
        self.assertEqual((1, "", ""), self.openstack("job", "complete", "a"))
        self.assertIn("a: the job has not started: cancel it instead", self.logged.output)
        self.change(job, state=models.JobState.RUNNING)
        self.assertEqual("complete", self.shown("job", "complete", "a")[0]["Asked To"])

    def test_one_that_refuses_does_not_keep_it_from_the_others(self):
        over = self.submit(name="over")
        self.change(over, state=models.JobState.FINISHED)
        job = self.submit(name="open")
        code, out, _error = self.openstack("job", "cancel", "none", "over", "open", "-f", "value")
        self.assertEqual(1, code)
        self.assertEqual(f"{job['number']} {job['uuid']} open queued False cancel\n", out)
        self.assertIn("none: there is no job 'none' in your project\n", self.logged.output)
        self.assertIn(
            "over: the job is finished: nothing can be asked of it (HTTP 409)\n",
            self.logged.output,
        )


class TestCancel(CommandCase):
    def cancel(self, *options, by="alice:demo"):
        rows = self.shown("job", "cancel", *options, by=by)
        return [row["Name"] for row in rows], self.stderr.getvalue().splitlines()[-1]

    def test_all_that_match_in_one_request(self):
        for name in ("solver-1", "solver-2", "other"):
            job = self.submit(name=name)
        self.change(job, state=models.JobState.RUNNING)
        self.submit("bob:else", name="theirs")
        self.wire.asked.clear()
        none = "no job that is not over matches, so none is cancelled"
        for options, expected, said in (
            (("--name", "solver-*"), ["solver-1", "solver-2"], "2 jobs to be cancelled"),
            (("--state", "running", "--state", "ending"), ["other"], "1 job to be cancelled"),
            (("--user", "bob"), [], none),
            (("--all",), ["solver-1", "solver-2", "other"], "3 jobs to be cancelled"),
        ):
            self.assertEqual((expected, said), self.cancel(*options))
        self.assertEqual(["POST /v1/jobs/cancel"] * 4, self.wire.asked)
        names, _said = self.cancel("--all", "--all-projects", by="admin:admin")
        self.assertEqual(["solver-1", "solver-2", "other", "theirs"], names)

    def test_nothing_is_cancelled(self):
        """People see a sentence for each reason, and no table."""
        self.assertEqual("", self.succeed("job", "cancel", "--name", "x"))
        self.assertEqual(
            "no job that is not over matches, so none is cancelled\n", self.stderr.getvalue()
        )
        for verb in ("cancel", "hold", "release", "complete", "requeue", "wait"):
            self.assertEqual((1, "", ""), self.openstack("job", verb, "none"))
            self.assertTrue(
                self.logged.output.endswith("\nnone: there is no job 'none' in your project\n")
            )
        # Programs get what they expect.
        self.assertEqual([], self.shown("job", "cancel", "--name", "x"))

    def test_uuids_in_one_request(self):
        uuids = [self.submit()["uuid"] for _ in range(3)]
        self.wire.asked.clear()
        self.assertEqual(3, len(self.shown("job", "cancel", *uuids)))
        self.assertEqual(["POST /v1/jobs/cancel"], self.wire.asked)
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.commands.cancel.MOST_UUIDS", 2))
        self.assertEqual(3, len(self.shown("job", "cancel", *uuids)))
        self.assertEqual(3, len(self.wire.asked))

    def test_mistakes(self):
        for words, expected in (
            ((), "say which jobs to cancel: "),
            (("a", "--all"), "give either jobs or options that say which, not both"),
            (("a", "--all-projects"), "give either jobs or options that say which, not both"),
            (("--all-projects",), "say which jobs to cancel: "),
        ):
            self.assertIn(expected, self.refused("job", "cancel", *words))
        self.assertIn("(HTTP 403)", self.refused("job", "cancel", "--all", "--all-projects"))


class TestWait(CommandCase):
    def setUp(self):
        super().setUp()
        self.steps = []
        watch = functools.partial(progress.watch, sleep=lambda _seconds: self.steps.pop(0)())
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.progress.watch", watch))

    def become(self, job, state, **values):
        """What the manager does in the next pause between two polls."""
        self.steps.append(lambda: self.change(job, state=state, **values))

    def test_until_all_have_finished(self):
        first, second = self.submit(name="a"), self.submit(name="b")
        self.become(first, models.JobState.RUNNING)
        self.become(first, models.JobState.FINISHED)
        self.become(second, models.JobState.FINISHED)
        rows = self.shown("job", "wait", "a", second["uuid"])
        self.assertEqual([("a", "finished"), ("b", "finished")], [_state(row) for row in rows])

    def test_until_they_have_started(self):
        job = self.submit(name="a")
        self.become(job, models.JobState.RUNNING)
        [row] = self.shown("job", "wait", "--until", "started", "a")
        self.assertEqual(("a", "running"), _state(row))

    def test_one_that_fails(self):
        failed, good = self.submit(name="a"), self.submit(name="b")
        reason = failures.SERVERS_OFF()
        self.become(failed, models.JobState.FAILED, reason=reason, exit_status=3)
        self.change(good, state=models.JobState.FINISHED)
        code, out, _error = self.openstack("job", "wait", "a", "b", "none", "-f", "value")
        self.assertEqual(1, code)
        self.assertEqual(
            f"{failed['number']} {failed['uuid']} a failed 3 its servers are off\n"
            f"{good['number']} {good['uuid']} b finished None \n",
            out,
        )
        # The failure is told once, as an error.
        self.assertEqual(
            "job 1 (a), 1st in the queue: waits; the manager has not decided about it yet\n"
            "job 2 (b): is finished\n",
            self.stderr.getvalue(),
        )
        # After the warning that there is no authentication.
        self.assertTrue(
            self.logged.output.endswith(
                f"\njob {failed['number']} (a) is failed: its servers are off\n"
                "none: there is no job 'none' in your project\n"
            ),
            self.logged.output,
        )

    def test_interrupted(self):
        def interrupt():
            raise KeyboardInterrupt

        self.steps = [interrupt, interrupt]
        job = self.submit(name="a")
        for words in (("job", "wait", "a"), ("job", "create", "--size", "1", "--wait=finished")):
            self.assertRaises(KeyboardInterrupt, self.openstack, *words)
            job = self.store.jobs()[-1]
            self.assertIsNone(job.requested_action)
            self.assertIn(
                f", which goes on; to cancel it: openstack twotier job cancel {job.uuid}",
                self.stderr.getvalue().splitlines()[-1],
            )


def _state(row):
    return row["Name"], row["State"]


class TestLimits(CommandCase):
    OPTIONS = "[manager]\nmax_foreground_slots_per_user = 4"

    def test_only_those_that_are_set_are_shown(self):
        shown = self.shown("queue", "show")
        limits = {name: value for name, value in shown.items() if "slots" in name}
        self.assertEqual({"foreground_slots_per_user_limit": 4}, limits)


class TestQueue(CommandCase):
    ADMIN = "carol:ops:admin"

    def test_show(self):
        self.submit(size=3)
        shown = self.shown("queue", "show")
        self.assertEqual(
            ("default", "active", "amcbf"),
            tuple(shown[name] for name in ("pool", "mode", "policy")),
        )
        self.assertEqual((1, 3), (shown["jobs_used"], shown["processes_used"]))
        self.assertEqual(1, shown["jobs"]["queued"])
        table = self.succeed("queue", "show", "-c", "jobs")
        self.assertIn("| jobs  | queued 1 |", table)
        self.last_beat(23_280.0)
        text = "no manager since 1970-01-01T06:28:00Z"
        self.assertEqual(text, self.shown("queue", "show")["manager"]["text"])
        table = self.succeed("queue", "show", "-c", "manager")
        self.assertIn(f"| manager | {text} |", table)
        self.assertEqual([], [name for name in shown if "slots" in name])

    def test_of_all_projects(self):
        self.submit("bob:other")
        shown = self.shown("queue", "show", "--all-projects", by="admin:admin")
        self.assertEqual((None, 1), (shown["project_id"], shown["jobs"]["queued"]))
        self.assertNotIn("jobs_used", shown)

    def test_modes(self):
        for words, mode in (
            (["pause"], "paused"),
            (["resume"], "active"),
            (["set", "--mode", "draining"], "draining"),
        ):
            answer = self.shown("queue", *words, by=self.ADMIN)
            self.assertEqual({"pool": "default", "mode": mode}, answer)
            self.assertEqual(mode, self.store.queue_mode("default"))
        self.assertIn("is draining", self.refused("job", "create", "--size", "1"))

    def test_policy(self):
        def words(shown):
            return [shown[name] for name in ("policy", "policy_configured", "policy_set_to")]

        shown = self.shown("queue", "set", "--policy", "easy", by=self.ADMIN)
        self.assertEqual(["easy", "amcbf", "easy"], words(shown))
        self.assertEqual(["easy", "amcbf", "easy"], words(self.shown("queue", "show")))
        shown = self.shown("queue", "set", "--policy", "default", "--mode", "paused", by=self.ADMIN)
        self.assertEqual(["amcbf", "amcbf", None], words(shown))
        self.assertEqual("paused", shown["mode"])

    def test_wrong_policies(self):
        error = self.refused("queue", "set", "--policy", "easy++", by=self.ADMIN)
        self.assertIn("policy: give one of fcfs, easy, ", error)
        error = self.refused("queue", "set", by=self.ADMIN)
        self.assertEqual("say what to change: --mode, --policy or both", error)

    def test_members_do_not(self):
        self.assertIn("(HTTP 403)", self.refused("queue", "pause"))

    def test_a_pool_that_is_not_there(self):
        error = self.refused("queue", "pause", "--pool", "gpu", by=self.ADMIN)
        self.assertIn("there is no such pool, only default", error)


class TestEvents(CommandCase):
    def test_list(self):
        job, other = self.submit(name="a"), self.submit(name="b")
        self.happen(job, "started", "in fg", at=4e9)
        rows = self.shown("event", "list", "--job", "a")
        self.assertEqual(
            [("submitted", None, "1", job["uuid"]), ("started", "in fg", "1", job["uuid"])],
            [(row["Event"], row["Detail"], row["Number"], row["Job"]) for row in rows],
        )
        [row] = self.shown("event", "list", "--since", "2096-01-01T00:00:00Z")
        self.assertEqual("2096-10-02T07:06:40.000+00:00", row["At"])
        rows = self.shown("event", "list", "--limit", "2")
        self.assertEqual(
            [("submitted", other["uuid"]), ("started", job["uuid"])],
            [(row["Event"], row["Job"]) for row in rows],
        )
        self.assertEqual(3, len(self.shown("event", "list", "--since", "1h")))

    def test_mistakes(self):
        for options, expected in (
            (("--since", "2096-01-01"), "'2096-01-01': give a time with its zone"),
            (("--limit", "-1"), "'-1' is not a whole number of at least 1"),
        ):
            code, _out, error = self.openstack("event", "list", *options)
            self.assertEqual(2, code)
            self.assertIn(expected, error)


class TestHosts(CommandCase):
    """Hosts themselves need Placement: see the functional and the cloud tests."""

    def test_not_for_members(self):
        for words in (["drain", "host1"], ["undrain", "host1"]):
            self.assertIn("(HTTP 403)", self.refused("host", *words))

    def test_placement_is_down(self):
        self.assertIn("does not answer", self.refused("host", "list", by="admin:admin"))
