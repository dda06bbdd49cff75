"""Tests of the scheduler plugin, with threads as in nova-scheduler."""

from tests import nova_threads  # noqa: F401
