"""Fixtures of the tests that run Nova and Placement in their own process."""

from unittest import mock

import jsonschema
import pytest
from oslo_messaging._drivers import impl_fake
from sqlalchemy.engine import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

from nova_twotier.tools.fakecloud import messages, sqlite
from tests.cores import keep_to_one


@pytest.fixture(scope="session", autouse=True)
def own_core(request):
    """Each worker of pytest-xdist runs on one."""
    if worker := getattr(request.config, "workerinput", None):
        keep_to_one(int(worker["workerid"].removeprefix("gw")))


@pytest.fixture(scope="session", autouse=True)
def schemas_checked_once():
    """Placement has a few schemas, and has each checked again for each body that it is sent.

    That took up to a seventh of the time of tests that write much.
    """
    validator = jsonschema.validators.validator_for({})
    check = validator.check_schema
    # Kept, so that no other one gets its identity.
    checked = {}

    def once(schema, *args, **options):
        if id(schema) not in checked:
            check(schema, *args, **options)
            checked[id(schema)] = schema

    with mock.patch.object(validator, "check_schema", once):
        yield


@pytest.fixture(scope="session", autouse=True)
def statements_compiled_once():
    """SQLAlchemy keeps what it has compiled for an engine, and each test has engines of its own."""
    shared = LRUCache(4000)
    of_any_engine = property(lambda engine: shared, lambda engine, own: None)

    def equal(one, other):
        return type(one) is type(other)

    with (
        mock.patch.object(Engine, "_compiled_cache", of_any_engine, create=True),
        mock.patch.object(DefaultDialect, "__eq__", equal),
        mock.patch.object(DefaultDialect, "__hash__", lambda dialect: hash(type(dialect))),
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def writers_wait():
    """Nova's tests have their databases in files of SQLite, and many threads that write there."""
    sqlite.let_writers_wait()


@pytest.fixture(scope="session", autouse=True)
def messages_wake_their_reader():
    """oslo.messaging's fake driver looks for messages 20 times a second, in two threads a host."""
    with mock.patch.multiple(
        impl_fake, FakeExchange=messages.Exchange, FakeListener=messages.Listener
    ):
        yield
