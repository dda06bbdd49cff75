"""`openstack twotier job create` against the real API."""

import base64
import contextlib
import functools
import io
import pathlib
import textwrap
import types

import fixtures
import requests
import webob
import webob.dec
from openstack.exceptions import DuplicateResource

from nova_twotier.client import brief, peers, progress, rest, userdata
from nova_twotier.client.commands import create
from nova_twotier.core.reasons import failures
from nova_twotier.db import models
from tests.unit.api.case import OTHER
from tests.unit.client.case import CommandCase, commands
from tests.unit.client.test_trace import LINE

#: Before tests replace it.
WATCH = progress.watch


class CreateCase(CommandCase):
    def create(self, *options):
        return self.shown("job", "create", *options)

    def kept(self, job):
        return self.store.find(job["uuid"])

    def user_data(self, job):
        return base64.b64decode(self.store.user_data(self.kept(job).number))

    def token(self, job):
        return self.kept(job).report_token

    def of_script(self, script, job):
        token, guest = self.token(job), peers.Guest()
        return userdata.of_script(script.encode(), token, guest=guest)

    def file(self, content, name="job.sh"):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / name
        path.write_text(content)
        return str(path)

    def all(self):
        return list(self.api.jobs())


class TestOptions(CreateCase):
    def test_only_a_size(self):
        job = self.create("--size", "3")
        self.assertEqual(
            (3, None, None, "queued"),
            tuple(job[name] for name in ("size", "cpu", "name", "state")),
        )
        self.assertEqual(job, self.shown("job", "show", job["uuid"]))

    def test_all_of_them(self):
        job = self.create(
            *("--size", "2", "--name", "solver", "--cpu", "0.9,0.4", "--bandwidth", "100"),
            *("--estimate", "90m", "--walltime", "2:00:00", "--flavor", "slot", "--image", OTHER),
            *("--network", OTHER, "--key-name", "mine", "--preemption", "suspend"),
            *("--checkpoint", "--retries", "2", "--keep-servers", "--held", "--pool", "default"),
        )
        expected = {
            "size": 2,
            "name": "solver",
            "cpu": [0.9, 0.4],
            "bandwidth": 100,
            "estimate": 5400,
            "walltime": 7200,
            "flavor": "slot",
            "image": OTHER,
            "networks": [OTHER],
            "key_name": "mine",
            "preemption": "suspend",
            "checkpoint": True,
            "retries": 2,
            "keep_servers": True,
            "held": True,
            "pool": "default",
            "has_user_data": False,
        }
        self.assertEqual(expected, {name: job[name] for name in expected})

    def test_no_networks(self):
        for word in ("none", "auto"):
            self.assertEqual([word], self.create("--size", "1", "--network", word)["networks"])
        error = self.refused(
            "job", "create", "--size", "1", "--network", OTHER, "--network", "none"
        )
        self.assertEqual("--network none cannot be combined with other networks", error)

    def test_a_script(self):
        script = "#!/bin/sh\nmpirun solve\n"
        job = self.create("--size", "1", "--script", self.file(script))
        self.assertEqual((True, True), (job["reports"], job["peers"]))
        self.assertEqual(self.of_script(script, job), self.user_data(job))

    def test_the_largest_script_that_is_promised(self):
        script = self.file("#!/bin/sh\n".ljust(31_000, "#"))
        self.assertTrue(self.create("--size", "1", "--checkpoint", "--script", script)["reports"])

    def test_user_data(self):
        job = self.create("--size", "1", "--user-data", self.file("#cloud-config\n"))
        self.assertEqual(b"#cloud-config\n", self.user_data(job))
        self.assertEqual((False, False), (job["reports"], job["peers"]))

    def test_words_are_those_of_the_api(self):
        self.assertEqual({str(way) for way in models.Preemption}, set(create.PREEMPTIONS))


class TestLine(CreateCase):
    """What people see: one line, unless they ask for more."""

    def line(self, *options):
        return self.succeed("job", "create", *options)

    def become(self, state, tier=None):
        """What the manager does to the job while one waits for it."""

        def act(_seconds):
            self.change(self.all()[-1], state=state, tier=tier)

        watch = functools.partial(progress.watch, sleep=act)
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.progress.watch", watch))

    def test_its_place_in_the_queue(self):
        for number, place in ((1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th")):
            self.assertEqual(
                f"Job {number} (My solver) is queued, {place} in the queue.\n",
                self.line("--size", "1", "--name", "My solver"),
            )

    def test_held(self):
        self.assertEqual(
            "Job 1 is queued, held until it is released.\n", self.line("--size", "1", "--held")
        )

    def test_what_it_waits_for_before_it_is_in_the_queue(self):
        self.assertRegex(
            self.line("--size", "1", "--begin", "2031-01-31T12:00:00Z"),
            r"^Job 1 is queued; it waits until 2031-01-31T12:00:00Z\.\n$",
        )
        self.assertEqual(
            "Job 2 is queued; it waits for job 1 (after-ok).\n",
            self.line("--size", "1", "--after-ok", "1"),
        )

    def test_a_wrong_option_is_refused_in_one_line(self):
        code, _out, error = self.openstack("job", "create", "--size", "0")
        self.assertEqual(2, code)
        self.assertRegex(error, r"^\S.* error: argument --size: '0' is not .*\(see .* --help\)\n$")

    def test_an_array_that_it_waits_for(self):
        self.line("--size", "1", "--name", "sweep", "--array", "0-3")
        self.assertEqual(
            "Job 5 is queued; it waits for array 1 (after-ok).\n",
            self.line("--size", "1", "--after-ok", "sweep"),
        )

    def test_after_waiting(self):
        self.become(models.JobState.RUNNING, "bg")
        self.assertEqual(
            "Job 1 is running in the background.\n", self.line("--size", "1", "--wait")
        )
        self.become(models.JobState.FINISHED)
        self.assertEqual("Job 2 is finished.\n", self.line("--size", "1", "--wait", "finished"))

    def test_an_api_that_answers_no_more(self):
        api = self.application

        def submit_only(environ, start_response):
            if environ["REQUEST_METHOD"] == "GET":
                raise requests.ConnectionError("refused")
            return api(environ, start_response)

        self.application = submit_only
        self.assertEqual("Job 1 is queued.\n", self.line("--size", "1"))

    def test_a_trace(self):
        path = self.file(
            "".join(LINE.format(*record) for record in ((1, 5, 3, 4, 4, 9), (2, 9, 2, 0, 0, 9))),
            "site.swf",
        )
        self.assertEqual(
            f"Submitted 1 job with 4 servers from {path}; 1 left out.\n",
            self.line("--from-swf", path),
        )

    def test_formats_and_columns_for_programs(self):
        uuid = self.line("--size", "1", "-f", "value", "-c", "uuid").strip()
        self.assertEqual(1, self.store.find(uuid).number)
        self.assertEqual(
            textwrap.dedent("""\
            +--------+-------+
            | Field  | Value |
            +--------+-------+
            | number | 2     |
            | cpu    | 0.6   |
            +--------+-------+
            """),
            self.line("--size", "30", "--cpu", "0.6", "-c", "number", "-c", "cpu"),
        )
        self.assertIn("| number ", self.line("--size", "1", "-f", "table"))
        self.wire.asked.clear()
        self.assertIn('number="4"\n', self.line("--size", "1", "-f", "shell"))
        self.assertEqual(["POST /v1/jobs"], self.wire.asked)

    def test_ordinals(self):
        told = {1: "1st", 11: "11th", 12: "12th", 21: "21st", 103: "103rd", 113: "113th"}
        self.assertEqual(told, {number: brief.ordinal(number) for number in told})
        self.assertEqual("1,002nd", brief.ordinal(1002))

    def test_help(self):
        command, name, _rest = commands().find_command(["twotier", "job", "create"])
        help_text = " ".join(command(None, None).get_parser(name).format_help().split())
        self.assertIn("show all fields, in this format (default: one line)", help_text)


class TestMistakes(CreateCase):
    """One line says what is wrong, and nothing is submitted."""

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: self.assertEqual([], self.all()))

    def misused(self, words, *options):
        """argparse's own exit code is 2, its message is behind the usage."""
        code, _out, error = self.openstack("job", "create", *options)
        self.assertEqual(2, code)
        self.assertIn(words, error.splitlines()[-1])

    def test_text_that_is_not_utf_8(self):
        """As Python has bytes of a shell that are none."""
        for words in (
            ("job", "create", "--size", "1", "--name", "a\udcff"),
            ("job", "list", "--name", "a\udcff"),
            ("job", "show", "a\udcff"),
            ("job", "cancel", "--name", "a\udcff*"),
        ):
            self.assertEqual("give text in UTF-8: '\\udcff' is none", self.refused(*words))

    def test_options(self):
        size = ("--size", "1")
        self.misused("one of the arguments --size --from-swf is required")
        self.misused("'0' is not a whole number of at least 1", "--size", "0")
        for given in ("-1", "x"):
            words = f"{given!r} is not a whole number of at least 0"
            self.misused(words, "--size", "1", "--retries", given)
        self.misused("'much': give numbers 0 to 1", *size, "--cpu", "much")
        for cpu in ("nan", "inf", "0.5,nan", "-0.1", "101"):
            self.misused(": give numbers 0 to 1, separated by commas", *size, f"--cpu={cpu}")
        self.misused(
            "'60': give numbers 0 to 1, separated by commas; did you mean 0.6?",
            *size,
            "--cpu",
            "0.5,60",
        )
        for bandwidth in ("much", "-1", "nan", "inf"):
            self.misused("is not a number of Mbit/s", *size, f"--bandwidth={bandwidth}")
        self.misused("'1:30' is not a time: give seconds", *size, "--walltime", "1:30")
        for option, none in (("--estimate", "0"), ("--walltime", "0:00:00")):
            words = f"argument {option}: {none!r} is not a run time: give more than 0, or leave"
            self.misused(words, *size, option, none)
        self.misused("invalid choice: 'kill'", *size, "--preemption", "kill")
        self.misused("not allowed with", *size, "--script", "a", "--user-data", "b")
        self.misused("not allowed with", *size, "--from-swf", "site.swf")

    def test_what_the_api_refuses(self):
        error = self.refused("job", "create", "--size", "2", "--cpu", "0.5,0.5,0.5")
        self.assertEqual(
            "cpu: give 2 values, one for each process, or one number for all (HTTP 400)", error
        )
        error = self.refused("job", "create", "--size", "1", "--image", "cirros")
        self.assertEqual("image: give a uuid (HTTP 400)", error)
        error = self.refused("job", "create", "--size", "1", "--bandwidth", "1e7")
        self.assertEqual("bandwidth: give at most 1000000 (HTTP 400)", error)

    def test_files(self):
        for option in ("--script", "--user-data"):
            error = self.refused("job", "create", "--size", "1", option, "/nowhere")
            self.assertEqual("/nowhere: No such file or directory", error)
        error = self.refused("job", "create", "--size", "1", "--script", self.file("echo\n"))
        self.assertEqual("a script begins with a line such as #!/bin/sh", error)

    def test_files_that_are_too_large(self):
        large = self.file("#!/bin/sh\n" + "#" * 1_000_000)
        for option, what in (("--script", "script"), ("--user-data", "file")):
            self.assertRegex(
                self.refused("job", "create", "--size", "1", option, large),
                f"^the {what} makes [0-9]{{7}} characters of user data, and at most 65535 fit: "
                f"put the program into the image, or let the {what} fetch it$",
            )


class TestNames(CreateCase):
    """Names of what other services have."""

    def setUp(self):
        super().setUp()
        self.services = {"compute", "image", "network"}
        self.sdk.compute = types.SimpleNamespace(find_flavor=self.finder("name"))
        self.sdk.image = types.SimpleNamespace(find_image=self.finder("id"))
        self.sdk.network = types.SimpleNamespace(find_network=self.finder("id"))

    @staticmethod
    def finder(attribute):
        def find(name, ignore_missing):
            assert ignore_missing
            if name == "twice":
                raise DuplicateResource("More than one")
            found = {"name": "slot", "id": OTHER}[attribute]
            return None if name == "none" else types.SimpleNamespace(**{attribute: found})

        return find

    def test_they_become_what_the_api_takes(self):
        job = self.create("--size", "1", "--flavor", "7", "--image", "cirros", "--network", "lan")
        self.assertEqual(("slot", OTHER, [OTHER]), (job["flavor"], job["image"], job["networks"]))

    def test_mistakes(self):
        for option, kind, name in (
            ("--flavor", "flavor", "none"),
            ("--image", "image", "none"),
        ):
            self.assertEqual(
                f"there is no {kind} 'none' for you; see openstack {kind} list",
                self.refused("job", "create", "--size", "1", option, name),
            )
        self.assertEqual(
            "there is more than one network 'twice': give its id",
            self.refused("job", "create", "--size", "1", "--network", "twice"),
        )


class TestWebhook(CreateCase):
    OPTIONS = "[job_events]\nallowed_webhooks = https://hooks.example.org/"
    URL = "https://hooks.example.org/jobs"

    def test_with_a_key(self):
        key = self.file("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "hook.key")
        job = self.create("--size", "1", "--webhook", self.URL, "--webhook-secret", key)
        self.assertEqual("https://hooks.example.org", job["webhook"]["origin"])
        table = self.succeed("job", "show", str(job["number"]))
        self.assertRegex(table, r"webhook +\| https://hooks.example.org, 1 to come +\|")
        stored = self.store.find(job["uuid"])
        self.assertEqual("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", stored.webhook_secret)

    def test_mistakes(self):
        binary = self.file("\0ä" * 20, "binary")
        for given, error in (
            (("--webhook", self.URL), "--webhook and --webhook-secret go together"),
            (("--webhook-secret", binary), "--webhook and --webhook-secret go together"),
            (
                ("--webhook", self.URL, "--webhook-secret", binary),
                "webhook_secret: give a key of 24 to 64 random bytes",
            ),
            (("--webhook", self.URL, "--webhook-secret", "none"), "none: No such file"),
        ):
            self.assertIn(error, self.refused("job", "create", "--size", "1", *given))
        self.assertEqual([], self.all())


class TestAnEarlierApi(CreateCase):
    def older(self, *unknown):
        """The API knows none of these fields."""
        application = self.application

        @webob.dec.wsgify
        def older(request):
            lacking = [
                name for name in unknown if request.method == "POST" and name in request.json
            ]
            if not lacking:
                return application
            errors = [{"detail": f"{lacking[0]!r} is not known; there are size", "request_id": "r"}]
            return webob.Response(json={"errors": errors}, status=400)

        self.application = older

    def test_a_script(self):
        """The guest learns fewer addresses, but its script runs."""
        self.older("peers")
        path = self.file("#!/bin/sh\n")
        self.create("--size", "2", "--script", path)
        [job] = self.all()
        self.assertFalse(self.kept(job).peers)
        self.assertEqual(
            1, self.logged.output.count("The API is of an earlier release: the script")
        )

    def test_what_it_cannot_do(self):
        self.older("peers", "priority")
        self.assertEqual(
            "'priority' is not known: the API is of an earlier release than this client; leave out "
            "what needs priority, or ask your operator to upgrade it",
            self.refused("job", "create", "--size", "1", "--priority", "1"),
        )


class TestWaiting(CreateCase):
    def become(self, **values):
        """What the manager does to the job while one waits for it."""

        def act(_seconds):
            self.change(self.all()[-1], **values)

        self.useFixture(
            fixtures.MonkeyPatch(
                "nova_twotier.client.progress.watch",
                functools.partial(WATCH, sleep=act),
            )
        )

    def test_until_it_runs(self):
        self.become(state=models.JobState.RUNNING, tier="fg")
        job = self.create("--size", "1", "--name", "solver", "--wait")
        self.assertEqual("running", job["state"])
        self.assertEqual(
            [
                f"job {job['number']} (solver) is submitted",
                "job 1 (solver), 1st in the queue: waits; the manager has not decided about it yet",
                "job 1 (solver): runs in the foreground",
            ],
            self.stderr.getvalue().splitlines(),
        )

    def test_until_it_has_finished(self):
        self.become(state=models.JobState.FINISHED)
        job = self.create("--size", "1", "--wait", "finished")
        self.assertEqual("finished", job["state"])

    def test_a_job_that_fails(self):
        self.become(state=models.JobState.FAILED, reason=failures.SERVERS_OFF())
        error = self.refused("job", "create", "--size", "1", "--wait")
        [job] = self.all()
        self.assertEqual(f"job {job['number']} is failed: its servers are off", error)

    def test_a_program_gets_the_job_that_fails(self):
        for state in (models.JobState.FAILED, models.JobState.CANCELLED):
            self.become(state=state, reason=failures.SERVERS_OFF())
            for format_, shown in (
                (("-f", "json", "-c", "state"), f'{{\n  "state": "{state}"\n}}\n'),
                (("-f", "value", "-c", "state"), f"{state}\n"),
            ):
                code, out, error = self.openstack(
                    "job", "create", "--size", "1", "--wait", *format_
                )
                self.assertEqual((1, shown), (code, out))
                self.assertRegex(error, f"^job [0-9]+ is {state}: its servers are off$")


class TestTraces(CreateCase):
    def trace(self, *records):
        return self.file("".join(LINE.format(*record) for record in records), "site.swf")

    def test_every_job(self):
        path = self.trace((1, 50, 30, 4, 4, 3600), (2, 10, 20, 1, 1, -1), (3, 20, 5, 0, 0, 9))
        done = self.create("--from-swf", path, "--preemption", "requeue")
        self.assertEqual({"trace": path, "jobs": 2, "processes": 5, "left_out": 1}, done)
        shown = [(job["name"], job["size"], job["preemption"]) for job in self.all()]
        self.assertEqual([("site-2", 1, "requeue"), ("site-1", 4, "requeue")], shown)
        self.assertIn(b"#cloud-config", self.user_data(self.all()[0]))

    def test_options_hold_for_all(self):
        path = self.trace((1, 50, 30, 4, 4, 3600), (2, 10, 20, 1, 1, -1))
        self.create("--from-swf", path, "--name", "night", "--script", self.file("#!/bin/sh\n"))
        self.assertEqual(["night-2", "night-1"], [job["name"] for job in self.all()])
        first = self.all()[0]
        self.assertTrue(self.kept(first).peers)
        self.assertEqual(self.of_script("#!/bin/sh\n", first), self.user_data(first))

    def test_user_data_for_all_of_a_trace(self):
        """It does not say that it reports its end."""
        path = self.trace((1, 50, 30, 4, 4, 3600))
        self.create("--from-swf", path, "--user-data", self.file("#cloud-config\n"))
        self.assertIsNone(self.token(self.all()[0]))

    def test_nothing_is_submitted_if_a_line_is_wrong(self):
        path = self.trace((1, 50, 30, 4, 4, 3600), (2, "soon", 20, 1, 1, -1))
        error = self.refused("job", "create", "--from-swf", path)
        self.assertEqual(f"{path}:2: field 2 (submit) is 'soon'; it must be a number", error)
        self.assertEqual([], self.all())

    def test_an_interruption_says_how_far_it_came(self):
        path = self.trace((1, 50, 30, 4, 4, 3600), (2, 60, 20, 1, 1, -1))
        submit = rest.Api.submit

        def interrupted(api, request):
            if self.all():
                raise KeyboardInterrupt
            return submit(api, request)

        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.rest.Api.submit", interrupted))
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            self.assertRaises(KeyboardInterrupt, self.create, "--from-swf", path)
        self.assertEqual(
            "interrupted; 1 of 2 jobs are submitted; to cancel them: "
            "openstack twotier job cancel --name 'site-*'",
            shown.getvalue().splitlines()[-1],
        )

    def test_nor_with_wait(self):
        error = self.refused("job", "create", "--from-swf", self.trace(), "--wait")
        self.assertEqual("--wait is for one job, not for a trace: see job list", error)


class TestClassesOfTraces(CreateCase):
    OPTIONS = "[manager]\nqos_classes = true"

    def trace(self, header):
        lines = (f"{n} {n} -1 5 1 -1 -1 1 9 -1 1 1 1 1 {n} -1 -1 -1\n" for n in (1, 2))
        return self.file(header + "".join(lines), "site.swf")

    def test_each_job_has_its_own(self):
        path = self.trace("; Queue: 1 scavenger\n")
        self.create("--from-swf", path, "--qos", "trace")
        self.assertEqual(["scavenger", "normal"], [job["qos"] for job in self.all()])
        self.create("--from-swf", path)
        self.assertEqual(["normal"] * 2, [job["qos"] for job in self.all()[2:]])

    def test_nothing_is_submitted_that_may_not_be(self):
        path = self.trace("; Queue: 2 urgent\n")
        error = self.refused("job", "create", "--from-swf", path, "--qos", "trace")
        self.assertEqual(
            "the trace has urgent jobs, which you may not submit: queue show says which you may "
            "(qos_allowed)",
            error,
        )
        self.assertEqual([], self.all())

    def test_mistakes(self):
        error = self.refused("job", "create", "--size", "1", "--qos", "trace")
        self.assertEqual("--qos trace is for --from-swf", error)
        error = self.refused("job", "create", "--from-swf", self.trace(""), "--qos", "trace")
        self.assertIn("site.swf: names no classes of service", error)


class TestQuota(CreateCase):
    OPTIONS = "max_jobs_per_project = 1"

    def test_how_far_it_came(self):
        path = self.file("".join(LINE.format(n, n, 5, 1, 1, 9) for n in (1, 2)), "site.swf")
        error = self.refused("job", "create", "--from-swf", path)
        self.assertTrue(error.startswith("site-2: "), error)
        self.assertTrue(
            error.endswith(
                "; 1 of 2 jobs are submitted; to cancel them: openstack twotier job cancel "
                "--name 'site-*'"
            ),
            error,
        )
        self.assertEqual(1, len(self.all()))
