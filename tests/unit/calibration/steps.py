"""Waits for the steps of a job."""

import time

#: Seconds until a test gives up.
PATIENCE = 60


def await_steps(job, count):
    """The first sample with so many steps."""
    deadline = time.monotonic() + PATIENCE
    while (sample := job.sample()).steps < count:
        assert time.monotonic() < deadline, sample
        time.sleep(0.01)
    return sample
