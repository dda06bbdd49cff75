"""Fixtures of the tests that run Nova and Placement in their own process."""

from tests.own_core import own_core

__all__ = ["own_core"]
