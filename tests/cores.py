"""Processes that keep to a core.

Nova in one process is many threads that want Python's lock all the time. On one core they hand it
over in much less time than across two.
"""

import os


def keep_to_one(number, pid=0):
    """Let a process, by default this one, run on one of the cores that this one may use.

    :param number: of the process among those that share the cores.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(pid, {cores[number % len(cores)]})
