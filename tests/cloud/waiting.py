"""To wait for what a cloud does, and to say what did not happen."""

import time


def wait_for(condition, what, patience=90):
    """What `condition` returns as soon as that is true.

    :param patience: seconds; then the test fails.
    """
    deadline = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {patience} s in vain: {what}"
        time.sleep(0.1)
    return value
