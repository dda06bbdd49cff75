"""Tests on real Nova and Placement code in one process."""

from tests import nova_threads  # noqa: F401
