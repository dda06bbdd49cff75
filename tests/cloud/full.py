"""What the full variant of the cloud needs."""

import os

import pytest

from nova_twotier.tools.fakecloud import FakeCloudError, servers
from nova_twotier.tools.fakecloud.settings import DEFAULT_TRANSPORT_URL


def broker():
    """URL of the message broker; skips when none answers there, or a service is not installed."""
    pytest.importorskip("keystone", reason='needs the "full" extra')
    pytest.importorskip("glance", reason='needs the "full" extra')
    url = os.environ.get("FAKECLOUD_TEST_TRANSPORT_URL", DEFAULT_TRANSPORT_URL)
    try:
        servers.check_broker(url)
    except FakeCloudError as error:
        pytest.skip(f"{error} (here: FAKECLOUD_TEST_TRANSPORT_URL)")
    return url
