"""Whether a wheel of the compiled simulator, which is installed, works."""

import pathlib
import sys

from nova_twotier.core.policies import amcbf
from nova_twotier.sim import engine
from nova_twotier.sim.cli import main

#: The checkout would be found before the wheel.
HERE = pathlib.Path(__file__).parents[1]

for module in (amcbf, engine):
    path = pathlib.Path(module.__file__)
    if path.suffix != ".so" or path.is_relative_to(HERE / "nova_twotier"):
        sys.exit(f"{path} is not of the compiled simulator")
sys.exit(main(["run", "lublin:500", "--nodes", "64", "--policy", "amcbf"]))
