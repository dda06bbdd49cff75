"""Check that an installed wheel of compiled code simulates, and predicts for a queue manager."""

import pathlib
import sys

from nova_twotier.core import policies
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies import amcbf
from nova_twotier.core.prediction.present import Present
from nova_twotier.core.prediction.questions import Question
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.manager.predictor import Predictor
from nova_twotier.sim import engine
from nova_twotier.sim.cli import main

#: The checkout would be found before the wheel.
HERE = pathlib.Path(__file__).parents[1]

for module in (amcbf, engine):
    path = pathlib.Path(module.__file__)
    if path.suffix != ".so" or path.is_relative_to(HERE / "nova_twotier"):
        sys.exit(f"{path} is not of the compiled simulator")
jobs = [Job(number, 2, 0.0, (1.0, 1.0), 60.0) for number in (1, 2)]
queue = Snapshot(Hosts([Host("a", 2)]), jobs)
present = Present(queue, policies.get("easy"), 0.0, pending=Event.ARRIVAL)
predictor = Predictor("requested")
told = predictor.ask(Question([], present)).forecasts
predictor.close()
if told != {1: (0.0, 60.0), 2: (60.0, 120.0)}:
    sys.exit(f"wrong predictions: {told}")
sys.exit(main(["run", "lublin:500", "--nodes", "64", "--policy", "amcbf"]))
