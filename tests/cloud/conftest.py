"""Fixtures of the tests that run against a fake-driver cloud, and their order."""

import pytest

pytest.importorskip("nova", reason='the fake cloud needs Nova: install the "demo" extra')
pytest.importorskip("placement", reason='the fake cloud needs Placement: install the "demo" extra')

from nova_twotier.tools.fakecloud.fixture import fakecloud, fakecloud_options

__all__ = ["fakecloud", "fakecloud_options"]

#: What takes longest. If it began last, the other workers of pytest-xdist would wait for it.
LONGEST = ("test_faults", "test_demo", "test_full", "test_replay")


def pytest_collection_modifyitems(items):
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONGEST)))
