"""Threads as Nova has in production. To be imported before anything of Nova."""

import os
from importlib import metadata

#: The first release whose services run native threads; before, they are patched by eventlet.
NATIVE_THREADS = 33
RELEASE = int(metadata.version("nova").partition(".")[0])

#: Options with which services are up without reporting. A report writes to the database, and reads
#: within that; if another thread switches cells just then, two locks of Nova's fixtures
#: (`CellDatabases`, `DatabaseWriteLock`) wait for each other for ever.
SILENT_SERVICES = {"report_interval": 0, "service_down_time": 24 * 3600}

# Nova's tests choose eventlet by default, and choose when they are first imported.
os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = str(RELEASE >= NATIVE_THREADS)

from nova.tests import functional  # noqa: E402, F401
