"""`reproduce`: a paper's table or figure."""

import math
import pathlib
import shlex

from cliff.columns import FormattableColumn

from nova_twotier.sim.cli import options, values
from nova_twotier.sim.cli.command import Number, Table, cell

REPORT = "report.html"


class Reproduce(Table):
    """Run a paper's table or figure anew: our numbers beside the printed ones, and a report"""

    _epilog = (
        "Example: twotier-sim reproduce jss2015-table2 --traces traces --seeds 5 --out table2. "
        "The directory gets report.html and keeps what is finished: a second call runs the rest. "
        "`twotier-sim reproduce list` prints the names."
    )

    def add_arguments(self, parser):
        parser.add_argument(
            "name", nargs="?", metavar="NAME", help="such as jss2015-table2, or list"
        )
        parser.add_argument(
            "--list", action="store_true", help="print the names, each with a line, as `list` does"
        )
        parser.add_argument(
            "--traces",
            type=pathlib.Path,
            metavar="DIR",
            help="the archive's traces, e.g. traces (default: ../shared/traces)",
        )
        parser.add_argument(
            "--out",
            type=pathlib.Path,
            metavar="DIR",
            help="where results and the report are kept (default: reproduce-NAME)",
        )
        parser.add_argument(
            "--seeds",
            type=values.whole(1),
            metavar="N",
            help="runs of what is drawn at random, e.g. 2 (default: 5)",
        )
        parser.add_argument(
            "--model-jobs",
            type=values.whole(1),
            metavar="N",
            help="jobs of a model's workload, e.g. 350000 (default: as the report says)",
        )
        parser.add_argument(
            "--loads",
            type=values.loads,
            metavar="LOADS",
            help="of the figures: FIRST:LAST:STEP or a list, e.g. 0.6,0.8 (default: 0.5:0.95:0.05)",
        )
        parser.add_argument(
            "--head",
            type=values.whole(1),
            metavar="N",
            help="only the first N jobs of each workload, for a quick look, e.g. 2000 "
            "(default: all)",
        )
        options.add_parallel(parser)

    def take_action(self, parsed_args):
        from nova_twotier.sim.reproduce import registry

        if parsed_args.list or parsed_args.name == "list":
            rows = [(each.name, each.source, each.about) for each in registry.EXPERIMENTS.values()]
            return ("name", "source", "description"), rows
        if parsed_args.name is None:
            raise ValueError("which one? `reproduce list` prints the names")
        return self._reproduce(registry.get(parsed_args.name), parsed_args)

    def _reproduce(self, experiment, parsed):
        from nova_twotier.sim.reproduce import report, runner
        from nova_twotier.sim.reproduce.experiment import Settings

        given = _given(parsed)
        out = parsed.out or pathlib.Path(f"reproduce-{experiment.name}")
        fields = {name: value for name, value in given.items() if name != "out"}
        if "loads" in fields:
            fields["loads"] = tuple(fields["loads"])
        settings = Settings(**fields)
        outcome = runner.run(experiment, settings, out, jobs=parsed.jobs, dask=parsed.dask)
        page = report.page(outcome, _command(experiment.name, given))
        out.mkdir(parents=True, exist_ok=True)
        (out / REPORT).write_text(page, encoding="utf-8")
        self.app.complain(f"the report is {out / REPORT}")
        return _rows(outcome)


class Amount(FormattableColumn):
    """A number with its unit for people, without it for machines; or a word."""

    def __init__(self, value, unit=""):
        super().__init__(value)
        self._unit = unit

    def human_readable(self) -> str:
        from nova_twotier.sim.reproduce import report_tables

        return report_tables.amount(self._value, self._unit)


class Holds(FormattableColumn):
    """Whether a claim holds; None is not tested."""

    def human_readable(self) -> str:
        return {True: "yes", False: "no", None: "-"}[self._value]


def _rows(outcome) -> tuple[tuple, list[tuple]]:
    """The printed numbers, then the claims; columns that none of them fills are left out."""
    numbers, claims = outcome.numbers, outcome.findings
    points = outcome.experiment.points
    unit = "points" if points else "percent"
    columns = ["finding", "paper", "ours"]
    columns += ["low", "high", f"deviation_{unit}"] if numbers else []
    columns += ["holds"] if claims else []
    rows = []
    for number in numbers:
        row = [number.name, *map(_number, (number.paper, number.ours, number.low, number.high))]
        row.append(cell(number.points if points else number.percent))
        rows.append((*row, Holds(None)) if claims else tuple(row))
    for claim, finding in claims:
        row = [claim.text, Amount(claim.paper, claim.unit), Amount(finding.ours, claim.unit)]
        row += [Number(None)] * 3 if numbers else []
        rows.append((*row, Holds(finding.holds)))
    return tuple(columns), rows


def _number(value: float) -> Number:
    """A number of a table; a NaN is none."""
    return Number(None if math.isnan(value) else value)


def _given(parsed) -> dict:
    """The options of an experiment that the user has given."""
    names = ("traces", "out", "seeds", "model_jobs", "loads", "head")
    return {name: getattr(parsed, name) for name in names if getattr(parsed, name) is not None}


def _command(name: str, given: dict) -> str:
    words = ["twotier-sim", "reproduce", name]
    for option, value in given.items():
        text = ",".join(f"{each:g}" for each in value) if isinstance(value, list) else str(value)
        words += [f"--{option.replace('_', '-')}", text]
    return shlex.join(words)
