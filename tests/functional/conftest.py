"""Fixtures of the tests that run Nova and Placement in their own process."""

from unittest import mock

import jsonschema
import pytest

from tests.own_core import own_core

__all__ = ["own_core", "schemas_checked_once"]


@pytest.fixture(scope="session", autouse=True)
def schemas_checked_once():
    """Placement has a few schemas, and has each checked again for each body that it is sent.

    That took a seventh of the time of tests on Placement.
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
