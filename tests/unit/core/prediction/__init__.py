"""Loads the profile of hypothesis that does not count seconds."""

import tests.unit.core.builders  # noqa: F401
