"""Fixtures of the tests that run against a fake-driver cloud."""

import pytest

pytest.importorskip("nova", reason='the fake cloud needs Nova: install the "demo" extra')
pytest.importorskip("placement", reason='the fake cloud needs Placement: install the "demo" extra')

from nova_twotier.tools.fakecloud.fixture import fakecloud, fakecloud_options

__all__ = ["fakecloud", "fakecloud_options"]
