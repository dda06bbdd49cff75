"""A cell that is away for a while, and what Nova forgets meanwhile."""

import pathlib
import types
from unittest import mock

import fixtures
import testtools

from nova_twotier.tools.faults import services
from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.site import HOST, TASK
from nova_twotier.tools.replay.guests import Harm


def server(uuid, task=None, host=None):
    return types.SimpleNamespace(id=uuid, **{TASK: task, HOST: host})


class TestCellOutage(testtools.TestCase):
    def test_servers_that_are_never_brought_back_have_lost_their_work(self):
        self.useFixture(fixtures.MockPatchObject(services, "FORGOTTEN", 0.0))
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "faults.log")
        control = mock.Mock()
        found = [
            server("runs", host="h1"),
            server("saved"),
            server("arrives", "unshelving", "h1"),
            server("forgotten", "unshelving"),
        ]
        site = types.SimpleNamespace(
            journal=Journal(file),
            recovery=mock.Mock(),
            servers=lambda: found,
            control=control,
            harm=Harm(),
        )
        outage = services.CellOutage(0.0, site, 0.01)
        outage.start()
        outage.join()
        self.assertEqual({"forgotten"}, site.harm.struck)
        self.assertEqual(
            [mock.call(answers=False), mock.call(answers=True)], control.cell.call_args_list
        )
