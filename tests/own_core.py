"""A core for each worker of pytest-xdist.

Nova in one process, or a fake cloud, is many threads that want Python's lock all the time. On one
core they hand it over in much less time than across two.
"""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_core(request):
    """The worker, and the processes that it starts, run on one of the cores that it may use."""
    worker = getattr(request.config, "workerinput", None)
    if worker and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        number = int(worker["workerid"].removeprefix("gw"))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
