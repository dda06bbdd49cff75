"""One poll at an action: what it requests next, and when it is over. No cloud is asked."""

import types
from unittest import mock

import testtools

from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import ActionState
from nova_twotier.manager.operations import OPERATIONS
from nova_twotier.manager.operations.context import Context, Environment
from nova_twotier.manager.operations.operation import Outcome


class OperationCase(testtools.TestCase):
    """`calls` are the requests to Nova that a step asked for, in order.

    `notes` are for the owners of the jobs, after an action failed.
    """

    def setUp(self):
        super().setUp()
        self.cloud = mock.Mock()
        self.placement = mock.Mock()
        self.placement.get.return_value = {"allocations": {}}

    def advance(self, record, one, look, now=100.0, **limits):
        env = Environment(
            cloud=self.cloud,
            placement=self.placement,
            attempts=3,
            boot_grace=10.0,
            close=mock.Mock(),
            threshold=0.96,
            now=now,
            user_data={one.number: "dXNlcg=="}.get,
            **limits,
        )
        context = Context(record, {one.number: one}, look, env)
        step = OPERATIONS[record.kind].advance(context)
        context.ask(request.key for request in step.requests)
        for request in step.requests:
            request.run()
        if step.state is ActionState.FAILED and step.end is None:
            self.notes = OPERATIONS[record.kind].undo(context)
        return step

    def begin(self, record, one):
        OPERATIONS[record.kind].begin(Context(record, {one.number: one}, None, None))

    @property
    def calls(self):
        return [(call[0], *call[1]) for call in self.cloud.method_calls]

    def assert_only_operators_read(self, secret, record, one):
        self.assertIn(secret, record.reason)
        [note] = self.notes
        for text in (str(note.reason), str(one.reason)):
            self.assertNotIn(secret, text)
        self.assertTrue(note.reason)

    def finish(self, record, one, look, now=100.0, **limits):
        """A step that ends the action well, and what it makes of the job: its notes."""
        step = self.advance(record, one, look, now, **limits)
        self.assertIs(ActionState.DONE, step.state)
        env = types.SimpleNamespace(now=now, **limits)
        return OPERATIONS[record.kind].close(Context(record, {one.number: one}, look, env))

    def answer(self, record, key, error=None, now=100.0):
        final = error is None or not error.passing
        context = Context(record, {}, None, types.SimpleNamespace(now=now))
        OPERATIONS[record.kind].answered(context, Outcome(RequestKey.parse(key), error, final))
