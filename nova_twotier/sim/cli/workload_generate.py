"""`workload generate`: jobs of a model, as a trace."""

from nova_twotier.sim.cli.workload_convert import WorkloadConvert


class WorkloadGenerate(WorkloadConvert):
    """Draw jobs from a model and write them as a trace or a table"""

    _epilog = (
        "Example: twotier-sim workload generate lublin:1000 --nodes 128 --load 0.7 --seed 1 "
        "--out lublin.swf"
    )
