"""Fixtures of the tests that run Nova and Placement in their own process."""

from unittest import mock

import jsonschema
import pytest

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
