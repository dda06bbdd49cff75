"""Tests without a cloud.

With threads as Nova has them, before a library of the manager imports eventlet: Nova would refuse
to be tested in the same process afterwards.
"""

from tests import nova_threads  # noqa: F401
