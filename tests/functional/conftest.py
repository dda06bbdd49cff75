"""Fixtures of the tests that run Nova and Placement in their own process."""

import functools
import gc
from unittest import mock

import jsonschema
import pytest
import sqlalchemy
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
def garbage_sought_less_often():
    """Collect garbage less often: each full collection looks through all that Nova has loaded."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 20)
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


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
def named_tables_aliased_once():
    """Placement names its tables anew for each statement, and with each of them all its columns.

    Tests that read much spend a lot of their time on that.
    """
    alias = sqlalchemy.alias
    made = {}

    def once(selectable, name=None, **options):
        if not name or options or not isinstance(selectable, sqlalchemy.Table):
            return alias(selectable, name, **options)
        if (selectable, name) not in made:
            made[selectable, name] = alias(selectable, name)
        return made[selectable, name]

    with mock.patch.object(sqlalchemy, "alias", once):
        yield


@pytest.fixture(scope="session", autouse=True)
def texts_made_once():
    """oslo.db begins each transaction on SQLite with a statement of its own, made of a text."""
    with mock.patch.object(sqlalchemy, "text", functools.lru_cache(sqlalchemy.text)):
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
