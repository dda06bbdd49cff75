"""Tests without a cloud.

With threads as Nova has them, before a library of the manager imports eventlet: Nova would refuse
to be tested in the same process afterwards.
"""

from hypothesis import HealthCheck, settings

from tests import nova_threads  # noqa: F401

# A loaded machine is no failure.
settings.register_profile("twotier", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("twotier")
