"""Fixtures of the tests that run Nova and Placement in their own process."""

import os
from unittest import mock

import jsonschema
import pytest


@pytest.fixture(scope="session", autouse=True)
def own_core(request):
    """Each worker of pytest-xdist runs on one of the cores that it may use.

    Nova in one process is many threads that want Python's lock all the time. On one core they hand
    it over in much less time than across two.
    """
    worker = getattr(request.config, "workerinput", None)
    if worker and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        number = int(worker["workerid"].removeprefix("gw"))
        os.sched_setaffinity(0, {cores[number % len(cores)]})


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
