"""`reproduce`: a paper's table or figure."""

import math
import pathlib
import shlex

from cliff.columns import FormattableColumn

from nova_twotier.sim.cli import options, values
from nova_twotier.sim.cli.command import Number, Table, cell

REPORT = "report.html"
#: In the place of a name: every experiment, with the runs that they share in one directory.
ALL = "all"
#: The columns of the names, and of `all`.
NAMES = ("name", "source", "description")
TOTALS = ("experiment", "hold", "do_not", "not_tested")


class Reproduce(Table):
    """Run a paper's table or figure anew, or our own study of policies, and write a report"""

    _epilog = (
        "Example: twotier-sim reproduce jss2015-table2 --traces traces --seeds 5 --out table2. "
        "The directory gets report.html and keeps what is finished: a second call runs the rest. "
        "`twotier-sim reproduce list` prints the names. With `all`, they share a directory, and "
        "each has a report NAME.html there."
    )

    def add_arguments(self, parser):
        parser.add_argument(
            "name", nargs="?", metavar="NAME", help="such as jss2015-table2, or all, or list"
        )
        parser.add_argument(
            "--list", action="store_true", help="print the names, each with a line, as `list` does"
        )
        parser.add_argument(
            "--traces",
            type=pathlib.Path,
            metavar="DIR",
            help="the archive's traces, e.g. /data/traces (default: traces, where `traces fetch` "
            "puts them)",
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
        parser.add_argument(
            "--only",
            type=lambda text: tuple(text.split(",")),
            metavar="PART[,PART...]",
            help="only these traces and studies of `policies`, whose whole takes hours: LANL, CTC, "
            "SDSC, KTH, NASA; as-logged, loads, robustness; e.g. KTH,NASA,as-logged; or of "
            "`estimates`: LANL, CTC, SDSC, KTH, bandwidth; or these traces of `jss2015-readings` "
            "or `prediction` (default: all)",
        )
        parser.add_argument(
            "--tried",
            action="store_true",
            help="where claims do not hold, run everything again under other readings, with more "
            "seeds and more jobs, as far as the experiment names such trials, and show what the "
            "claims give then in the report (default: not)",
        )
        parser.add_argument(
            "--doc",
            type=pathlib.Path,
            metavar="FILE",
            help="a Markdown document into which the claims are written, too, in the place of "
            "those of an earlier call, e.g. doc/claims.md (default: none)",
        )
        options.add_parallel(parser)

    def columns(self, parsed_args):
        from nova_twotier.sim.reproduce import registry

        if _lists(parsed_args):
            return NAMES
        if parsed_args.name == ALL:
            return TOTALS
        return None if parsed_args.name is None else _columns(registry.get(parsed_args.name))

    def take_action(self, parsed_args):
        from nova_twotier.sim.reproduce import document, registry

        if _lists(parsed_args):
            rows = [(each.name, each.source, each.about) for each in registry.EXPERIMENTS.values()]
            return NAMES, rows
        if parsed_args.name is None:
            raise ValueError("which one? `reproduce list` prints the names")
        if parsed_args.doc is not None:
            document.check(parsed_args.doc)
        if parsed_args.name == ALL:
            out = parsed_args.out or pathlib.Path(f"reproduce-{ALL}")
            every = registry.EXPERIMENTS.values()
            return _totals(
                self._reproduce(each, parsed_args, out, f"{each.name}.html") for each in every
            )
        experiment = registry.get(parsed_args.name)
        out = parsed_args.out or pathlib.Path(f"reproduce-{experiment.name}")
        return _rows(self._reproduce(experiment, parsed_args, out, REPORT))

    def _reproduce(self, experiment, parsed, out, file):
        """Run an experiment and write its report, and its claims into the document."""
        from nova_twotier.sim import whole_file
        from nova_twotier.sim.reproduce import document, report, runner
        from nova_twotier.sim.reproduce.experiment import Settings

        given = _given(parsed)
        fields = {name: value for name, value in given.items() if name != "out"}
        if "loads" in fields:
            fields["loads"] = tuple(fields["loads"])
        settings = Settings(**fields)
        run = runner.run_with_trials if parsed.tried else runner.run
        outcome = run(
            experiment,
            settings,
            out,
            jobs=parsed.jobs,
            dask=parsed.dask,
            progress=not parsed.quiet,
        )
        flags = ("--tried",) if parsed.tried else ()
        page = report.page(outcome, _command(experiment.name, given, flags))
        out.mkdir(parents=True, exist_ok=True)
        with whole_file.replacing(out / file) as part:
            part.write_text(page, encoding="utf-8")
        self.app.complain(f"the report is {out / file}")
        if parsed.doc is not None:
            # Directories are of one machine.
            kept = {name: value for name, value in given.items() if name not in ("out", "traces")}
            document.write(parsed.doc, outcome, _command(experiment.name, kept, flags))
        return outcome


class Amount(FormattableColumn):
    """A number with its unit for people, without it for machines; or a word."""

    def __init__(self, value, unit=""):
        super().__init__(value)
        self._unit = unit

    def human_readable(self) -> str:
        from nova_twotier.sim.reproduce import report_tables

        return report_tables.amount(self._value, self._unit)

    def machine_readable(self):
        """JSON has no infinity, as the ratio to a wait of 0 is."""
        value = self._value
        return None if isinstance(value, float) and not math.isfinite(value) else value


class Holds(FormattableColumn):
    """Whether a claim holds; None is not tested."""

    def human_readable(self) -> str:
        return {True: "yes", False: "no", None: "-"}[self._value]


def _lists(parsed) -> bool:
    return parsed.list or parsed.name == "list"


def _columns(experiment) -> tuple[str, ...] | None:
    """The columns of an experiment's numbers and claims; None if it has only tables of our own."""
    numbers, claims = _has_numbers(experiment), experiment.claims
    if not (numbers or claims):
        return None
    columns = ["finding", experiment.against, experiment.measured]
    unit = "points" if experiment.points else "percent"
    columns += ["low", "high", f"deviation_{unit}"] if numbers else []
    columns += ["holds"] if claims else []
    return tuple(columns)


def _has_numbers(experiment) -> bool:
    return experiment.numbers is not type(experiment).numbers


def _rows(outcome) -> tuple[tuple, list[tuple]]:
    """Columns and rows of the paper's numbers and claims, or else of our own tables."""
    experiment = outcome.experiment
    columns = _columns(experiment)
    if columns is None:
        return _tables(outcome)
    rows = []
    for number in outcome.numbers:
        row = [number.name, *map(_number, (number.paper, number.ours, number.low, number.high))]
        row.append(cell(number.points if experiment.points else number.percent))
        rows.append((*row, Holds(None)) if experiment.claims else tuple(row))
    for claim, finding in outcome.findings:
        row = [claim.text, Amount(claim.paper, claim.unit), Amount(finding.ours, claim.unit)]
        row += [Number(None)] * 3 if _has_numbers(experiment) else []
        rows.append((*row, Holds(finding.holds)))
    return columns, rows


def _tables(outcome) -> tuple[tuple, list[tuple]]:
    """The tables of an experiment, one below the other: they have the same columns."""
    tables = list(outcome.experiment.tables(outcome.results, outcome.settings))
    rows = [
        (table.caption, name, *values) for table in tables for name, values in table.rows.items()
    ]
    columns = ("table", "row", *(tables[0].columns if tables else ()))
    # A single one needs no name.
    return (columns, rows) if len(tables) > 1 else (columns[1:], [row[1:] for row in rows])


def _totals(outcomes) -> tuple[tuple, list[tuple]]:
    """How many claims of each experiment hold."""
    from nova_twotier.sim.reproduce.claims import verdicts

    rows = []
    for outcome in outcomes:
        found = verdicts(outcome.findings)
        rows.append((outcome.experiment.name, *map(found.count, (True, False, None))))
    return TOTALS, rows


def _number(value: float) -> Number:
    """A number of a table; a NaN is none."""
    return Number(None if math.isnan(value) else value)


def _given(parsed) -> dict:
    """The options of an experiment that the user has given."""
    names = ("traces", "out", "seeds", "model_jobs", "loads", "head", "only")
    return {name: getattr(parsed, name) for name in names if getattr(parsed, name) is not None}


def _command(name: str, given: dict, flags: tuple[str, ...]) -> str:
    words = ["twotier-sim", "reproduce", name]
    for option, value in given.items():
        if isinstance(value, list):
            value = ",".join(f"{each:g}" for each in value)
        elif isinstance(value, tuple):
            value = ",".join(value)
        words += [f"--{option.replace('_', '-')}", str(value)]
    return shlex.join([*words, *flags])
