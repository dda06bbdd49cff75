"""The cloud as a pytest fixture: `from nova_twotier.tools.fakecloud.fixture import *`."""

import pytest

from nova_twotier.tools.fakecloud.cloud import FakeCloud

__all__ = ["fakecloud", "fakecloud_options"]


@pytest.fixture(scope="session")
def fakecloud_options():
    """Options of FakeCloud; override this fixture in a conftest.py."""
    return {"hosts": 4}


@pytest.fixture(scope="session")
def fakecloud(tmp_path_factory, fakecloud_options):
    """A cloud that all tests of the session share."""
    cloud = FakeCloud(tmp_path_factory.mktemp("fakecloud") / "cloud", **fakecloud_options)
    cloud.up()
    try:
        yield cloud
    finally:
        cloud.down()
