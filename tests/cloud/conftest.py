"""Fixtures of the tests that run against a fake-driver cloud, and their order."""

import pytest

pytest.importorskip("nova", reason='the fake cloud needs Nova: install the "demo" extra')
pytest.importorskip("placement", reason='the fake cloud needs Placement: install the "demo" extra')

from nova_twotier.tools.fakecloud.fixture import fakecloud, fakecloud_options
from tests.cloud.browser import board, browser

__all__ = ["board", "browser", "fakecloud", "fakecloud_options"]

#: The files that take longest. If one began last, the other workers would wait for it.
LONGEST = (
    "test_faults",
    "test_agent",
    "test_trusts",
    "test_fakecloud",
    "test_full",
    "test_replay",
    "test_libvirt",
    "test_upgrade",
    "test_operations",
    "test_demo",
)


def pytest_collection_modifyitems(items):
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONGEST)))
