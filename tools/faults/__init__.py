"""Crash and fault tests: the manager on a fake-driver cloud in which everything goes wrong."""
