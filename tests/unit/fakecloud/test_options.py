"""Options of the user's own for the queue manager: kept, changed, taken back, refused."""

import json
import pathlib

import fixtures
import testtools

from nova_twotier.tools.fakecloud import FakeCloud, cli, options
from nova_twotier.tools.fakecloud.errors import UsageError
from nova_twotier.tools.fakecloud.layout import Layout
from nova_twotier.tools.fakecloud.settings import Settings

HOOKS = "job_events.allowed_webhooks"


class TestOptions(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.kept = self.directory / "options.conf"

    def up(self, *given, file=None):
        """The options of the next cloud in the directory."""
        new = options.changed(options.read(self.kept), file, given)
        options.write(self.kept, new)
        return options.read(self.kept)

    def test_they_are_kept_until_they_are_taken_back(self):
        first = {"manager": {"poll_interval": ["2"]}}
        self.assertEqual(first, self.up("manager.poll-interval=2"))
        hooks = {"job_events": {"allowed_webhooks": ["http://127.0.0.1:1/?a=b"]}}
        self.assertEqual({**first, **hooks}, self.up(f"{HOOKS}=http://127.0.0.1:1/?a=b"))
        self.assertEqual({**first, **hooks}, self.up())
        self.assertEqual(hooks, self.up("manager.poll_interval="))
        self.assertEqual({}, self.up(f"{HOOKS}="))
        self.assertFalse(self.kept.exists())

    def test_a_file(self):
        path = self.directory / "mine.conf"
        path.write_text("[DEFAULT]\ndebug = true\n[manager]\npools = a,\n  b\npolicy = fcfs\n")
        found = self.up("manager.policy=easy", file=path)
        self.assertEqual(["easy"], found["manager"]["policy"])
        self.assertEqual(
            (["true"], ["a,\nb"]), (found["DEFAULT"]["debug"], found["manager"]["pools"])
        )
        self.assertEqual(found, self.up())

    def test_mistakes(self):
        wrong = self.directory / "wrong.conf"
        wrong.write_text("no section\n")
        for given, file, said in (
            (["policy"], None, "--set policy: give SECTION.OPTION=VALUE, such as"),
            (["policy=fcfs"], None, "--set policy=fcfs: give SECTION.OPTION=VALUE"),
            (
                ["manager.polices=fcfs"],
                None,
                "there is no option polices in [manager]: oslo-config-generator ",
            ),
            (
                ["manager.qos_classes=..."],
                None,
                "configuration: [manager]qos_classes: Value for option qos_classes is not valid",
            ),
            (["managers.policy=fcfs"], None, "there is no section [managers]"),
            ([], self.directory / "none", f"--config: there is no file {self.directory}/none"),
            ([], self.directory, "Is a directory"),
            ([], wrong, f"it is no configuration: at {wrong}:1, No ':' or '='"),
        ):
            error = self.assertRaises(UsageError, options.changed, {}, file, given)
            self.assertIn(said, str(error))
            self.assertEqual(1, len(str(error).splitlines()))

    def test_what_may_change_while_the_cloud_is_up(self):
        before = options.changed({}, None, ["manager.fair_share=user", "manager.policy=fcfs"])
        for given, fixed in (
            ([f"{HOOKS}=http://a/", "manager.policy=easy"], []),
            (["manager.policy="], []),
            (["manager.fair_share="], ["manager.fair_share"]),
            (["api.threads=1"], ["api.threads"]),
        ):
            after = options.changed(before, None, given)
            self.assertEqual(fixed, options.fixed(before, after))


class CommandCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.layout = Layout(self.directory)
        self.layout.make_fresh()
        self.layout.options.write_text("[manager]\npolicy = fcfs\n")
        self.out = self.useFixture(fixtures.StringStream("stdout")).stream
        self.err = self.useFixture(fixtures.StringStream("stderr")).stream
        self.useFixture(fixtures.MonkeyPatch("sys.stdout", self.out))
        self.useFixture(fixtures.MonkeyPatch("sys.stderr", self.err))

    def fakecloud(self, *words):
        code = cli.main([*words, "--dir", str(self.directory)])
        shown = []
        for stream in (self.out, self.err):
            stream.seek(0)
            shown.append(stream.read())
        return code, *shown


class TestUpAgain(CommandCase):
    """The command on a cloud that is up: without a process, none has ended."""

    SETTINGS = {"hosts": 3, "slots": 2, "tiers": 1, "plugin": False}

    def setUp(self):
        super().setUp()
        self.runs(**self.SETTINGS)

    def runs(self, **settings):
        """Record a cloud that is up."""
        running = Settings(self.directory, **settings).to_dict()
        state = {"status": "up", "settings": running, "ports": {}, "processes": []}
        self.layout.write_state(state)
        info = dict.fromkeys(("mode", "image", "flavor", "plain_flavor"), "")
        info |= {"hosts": ["a"], "slots": 2, "tiers": 1, "urls": {}, "pids": {}}
        info["files"] = {"manager_conf": "", "openrc": ""}
        self.layout.cloud_json.write_text(json.dumps(info))

    def test_what_is_not_given_is_as_it_is(self):
        for words in ((), ("--hosts", "3"), ("--no-plugin", "--tiers", "1")):
            code, _out, err = self.fakecloud("up", *words)
            self.assertEqual((0, "fakecloud: already up"), (code, err.splitlines()[-1]))

    def test_what_is_given_must_be_as_it_is(self):
        code, _out, err = self.fakecloud("up", "--hosts", "4", "--slots", "2")
        self.assertEqual(1, code)
        self.assertEqual(
            f"fakecloud: a cloud with --hosts 3 is up in {self.directory}; "
            'run "fakecloud down" first\n',
            err,
        )

    def test_what_belongs_to_a_full_cloud(self):
        self.runs(hosts=0, full=True, libvirt=1)
        for words in (("--libvirt", "1"), ("--hosts", "0"), ("--computes-per-process", "4")):
            self.assertEqual(0, self.fakecloud("up", *words)[0], words)
        code, _out, err = self.fakecloud("up", "--libvirt", "2")
        self.assertEqual(1, code)
        self.assertIn("a cloud with --libvirt 1 is up", err)
        self.runs(**self.SETTINGS)
        code, _out, err = self.fakecloud("up", "--libvirt", "2")
        self.assertEqual(2, code)
        self.assertIn("--libvirt needs --full", err)

    def test_options_of_the_manager(self):
        changed = []
        self.useFixture(
            fixtures.MonkeyPatch(
                "nova_twotier.tools.fakecloud.cloud.FakeCloud._change_options",
                lambda _cloud, _state, _kept, wanted: changed.append(wanted),
            )
        )
        code, _out, _err = self.fakecloud("up", "--set", "manager.policy=easy")
        self.assertEqual((0, [{"manager": {"policy": ["easy"]}}]), (code, changed))

    def test_the_cloud_knows_its_settings_afterwards(self):
        cloud = FakeCloud(self.directory)
        cloud.up()
        self.assertEqual(self.SETTINGS, {n: getattr(cloud.settings, n) for n in self.SETTINGS})


class TestNoDirectory(CommandCase):
    def test_a_file_instead(self):
        self.directory = self.layout.options
        self.assertEqual(cli.EXIT_DOWN, self.fakecloud("status")[0])
        code, _out, err = self.fakecloud("up")
        self.assertEqual(1, code)
        self.assertIn(f"cannot write to {self.directory}: ", err)


class TestCrash(CommandCase):
    """What is left of a cloud whose machine was switched off."""

    def check(self):
        self.assertEqual("crashed", FakeCloud(self.directory).status()["state"])
        code, out, _err = self.fakecloud("status")
        self.assertEqual(cli.EXIT_DOWN, code)
        self.assertIn(f"cloud      {cli.CRASHED}\n", out)
        code, _out, err = self.fakecloud("down")
        self.assertEqual(0, code)
        self.assertEqual(
            "fakecloud: down\n"
            "fakecloud: the cloud had crashed or was killed; what was left of it is gone\n",
            err,
        )
        self.assertEqual("down", FakeCloud(self.directory).status()["state"])
        self.assertTrue(self.layout.options.exists(), "for the next cloud")
        self.fakecloud("down", "--purge")
        self.assertFalse(self.directory.exists())

    def test_processes_that_are_gone(self):
        gone = {"name": "nova", "pid": 2**22 + 1, "started": "another boot:1"}
        self.layout.write_state(
            {"status": "up", "settings": {}, "ports": {}, "processes": [gone], "discard": {}}
        )
        self.check()

    def test_a_record_that_is_damaged(self):
        self.layout.state.write_text("")
        self.check()
