"""`run`: one policy on one workload."""

import os

from nova_twotier.sim.cli import options, progress, scenario_options, values
from nova_twotier.sim.cli.command import Card, card, count


class Run(Card):
    """Run one policy on a workload and print what came of it"""

    _epilog = (
        "Example: twotier-sim run NASA.swf --policy cmcbf --load 0.7 --head 5000 "
        "--jobs-out jobs.parquet --schedule-out schedule.csv"
    )

    def add_arguments(self, parser):
        options.add_source(parser)
        parser.add_argument(
            "--policy",
            type=values.policy,
            required=True,
            metavar="P",
            help="a policy as `policy list` names it, e.g. cmcbf",
        )
        options.add_load(parser)
        options.add_workload(parser)
        scenario_options.add_scenario(parser)
        parser.add_argument(
            "--jobs-out",
            metavar="FILE",
            help="write a row a job, with its times and what happened to it, e.g. jobs.csv or "
            "jobs.parquet",
        )
        parser.add_argument(
            "--schedule-out",
            metavar="FILE",
            help="write a row for each stay of a process on a slot, which `plot gantt` reads, e.g. "
            "schedule.csv or schedule.parquet",
        )
        progress.add_quiet(parser)

    def columns(self, parsed_args):
        from nova_twotier.sim import metrics

        return metrics.columns(parsed_args.qos)

    def take_action(self, parsed_args):
        from nova_twotier.sim import metrics, schedules, simulation, tables

        for path in filter(None, (parsed_args.jobs_out, parsed_args.schedule_out)):
            tables.writable(path)
        _check_apart(parsed_args.jobs_out, parsed_args.schedule_out)
        workload = options.workload(parsed_args, self.app.complain)
        scenario = scenario_options.scenario(parsed_args, parsed_args.policy)
        scenario.check(workload)
        with progress.bar(parsed_args, len(workload.jobs), "job") as shown:
            result = simulation.simulate(
                workload,
                scenario,
                record=parsed_args.schedule_out is not None,
                ended=None if shown.disable else lambda _job: shown.update(),
            )
        if len(result.rejected):
            first = result.rejected.iloc[0]
            # Each job has a reason of its own.
            such = f", such as job {first['job']}" if len(result.rejected) > 1 else ""
            jobs = count(len(result.rejected), "job")
            self.app.complain(f"{jobs} rejected{such}: {first['reason']}")
        row = metrics.summarise(result)
        if parsed_args.load is not None:
            row["load"] = parsed_args.load  # also of jobs that a network rejected
        if parsed_args.jobs_out:
            tables.write(metrics.per_job(result.jobs), parsed_args.jobs_out)
        if parsed_args.schedule_out:
            tables.write(schedules.table(result, row["load"]), parsed_args.schedule_out)
        return card(row)


def _check_apart(jobs: str | None, schedule: str | None) -> None:
    """:raises ValueError: if both tables would be written to the same file."""
    if jobs and schedule and os.path.realpath(jobs) == os.path.realpath(schedule):
        raise ValueError(f"{schedule}: --jobs-out and --schedule-out need a file each")
