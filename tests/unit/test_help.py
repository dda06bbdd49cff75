"""The help of every command: what it does, and a text for each argument."""

import argparse

import fixtures
import testtools
from cliff.commandmanager import CommandManager

from nova_twotier.cmd import agent, api, manage, manager
from nova_twotier.sim.cli.commands import COMMANDS, Commands
from nova_twotier.tools.fakecloud import cli as fakecloud
from nova_twotier.tools.replay import cli as replay


def unexplained(parser, name):
    """The arguments of a parser, and of its subcommands, that have none."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, sub in action.choices.items():
                yield from unexplained(sub, f"{name} {word}")
        elif not action.help:
            yield f"{name} {' '.join(action.option_strings) or action.dest}"


class TestHelp(testtools.TestCase):
    def check(self, parser, name):
        self.assertEqual([], list(unexplained(parser, name)))

    def test_openstack_twotier(self):
        commands = CommandManager("openstack.twotier.v1")
        for name, _entry in commands:
            factory, _name, _rest = commands.find_command(name.split())
            self.check(factory(None, None).get_parser(name), name)

    def test_twotier_sim(self):
        for name in COMMANDS:
            factory, _name, _rest = Commands().find_command(name.split())
            self.check(factory(None, None).get_parser(name), name)

    def test_the_others(self):
        for module in (manage, fakecloud, replay):
            self.check(module._parser(), module.__name__)

    def test_daemons_say_what_they_do(self):
        for module in (agent, api, manager):
            shown = self.useFixture(fixtures.StringStream("stdout")).stream
            with fixtures.MonkeyPatch("sys.stdout", shown):
                self.assertEqual(0, self.assertRaises(SystemExit, module.main, ["--help"]).code)
            shown.seek(0)
            self.assertIn(module.DESCRIPTION, " ".join(shown.read().split()))

    def test_it_is_noticed(self):
        parser = argparse.ArgumentParser()
        sub = parser.add_subparsers(help="commands").add_parser("go", help="goes")
        sub.add_argument("--fast")
        self.assertEqual(["it go --fast"], list(unexplained(parser, "it")))
