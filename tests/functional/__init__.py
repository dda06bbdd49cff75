"""Tests on real Nova and Placement code in one process, with native threads as in production."""

import os

# Nova's tests choose eventlet by default, and choose before anything else of Nova is imported.
os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "true"

from nova.tests import functional  # noqa: F401
