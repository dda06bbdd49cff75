"""Compiles what runs for every event of a simulation, if asked to; all else is in setup.cfg.

NOVA_TWOTIER_COMPILE=3 pip install --no-build-isolation '.[sim]', with mypy, setuptools and a C
compiler at hand; the number is the compiler's level of optimisation.
"""

import os
from glob import glob

from setuptools import setup

_PREDICTION = ("forward", "history", "node_rates", "run_times", "slot_rates", "work_left")
HOT = (
    *("core/*", "core/policies/*"),
    *(f"core/prediction/{name}" for name in _PREDICTION),
    *("sim/arrivals", "sim/crowd", "sim/easy_plus_plus", "sim/engine", "sim/execution"),
    *("sim/job_table", "sim/learned", "sim/many_hosts", "sim/many_neighbours", "sim/many_nodes"),
    *("sim/rates_at_once", "sim/running_jobs", "sim/scripted", "sim/shared"),
    *("sim/shared_many_hosts", "sim/shared_many_nodes", "sim/variants"),
)


def compiled():
    level = os.environ.get("NOVA_TWOTIER_COMPILE")
    if not level:
        return []
    from mypyc.build import mypycify

    paths = [path for name in HOT for path in sorted(glob(f"nova_twotier/{name}.py"))]
    extensions = mypycify(paths, opt_level=level, debug_level="0", group_name="nova_twotier")
    for extension in extensions:
        # No other library takes the place of these functions: they may call each other directly.
        extension.extra_compile_args.append("-fno-semantic-interposition")
    return extensions


setup(ext_modules=compiled())
