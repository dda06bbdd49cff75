"""Tests of the scheduler plugin, with native threads as in nova-scheduler."""

from nova import monkey_patch

monkey_patch.patch(backend="threading")
