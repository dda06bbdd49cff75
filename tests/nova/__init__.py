"""Nova's own functional tests, unchanged, without and with our plugin: the same ones must pass.

`python -m tests.nova.compare` runs both and compares; `--part` takes a few minutes.
"""

from tests import nova_threads  # noqa: F401
