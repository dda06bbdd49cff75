"""The report of the runs: `faults.json`, and a table of it in Markdown."""

import dataclasses
import json
import pathlib
import statistics
from collections.abc import Iterable, Sequence

from nova_twotier.tools.faults.outcome import Outcome
from nova_twotier.tools.replay.errors import UsageError

FILE, TABLE = "faults.json", "faults.md"
_COLUMNS = (
    "scenario",
    "jobs",
    "lost",
    "doubled",
    "work wasted",
    "work destroyed",
    "recovery: mean (worst)",
    "wall time",
    "seed",
    "holds",
)


def write(outcomes: Sequence[Outcome], directory: pathlib.Path) -> str:
    """Write both files; returns the table."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = [dataclasses.asdict(outcome) for outcome in outcomes]
    (directory / FILE).write_text(json.dumps({"scenarios": rows}, indent=2) + "\n")
    text = table(outcomes)
    (directory / TABLE).write_text(text)
    return text


def read(files: Iterable[pathlib.Path]) -> list[Outcome]:
    """Outcomes of all these reports; of a scenario that is in several, the last.

    :raises UsageError: if one is no report.
    """
    found = {}
    for file in files:
        try:
            rows = json.loads(file.read_text())["scenarios"]
            found |= {row["scenario"]: Outcome(**row) for row in rows}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{file} is no report of faults: {error}") from error
    return list(found.values())


def table(outcomes: Iterable[Outcome]) -> str:
    """In Markdown; work in process-seconds of the guests, times in seconds."""
    lines = [f"| {' | '.join(_COLUMNS)} |", "|" + "---|" * len(_COLUMNS)]
    outcomes = list(outcomes)
    lines += [f"| {' | '.join(_cells(outcome))} |" for outcome in outcomes]
    for outcome in outcomes:
        figures = (f"{what} {value:g}" for what, value in outcome.figures.items())
        if outcome.figures:
            lines += ["", f"{outcome.scenario}: {', '.join(figures)}."]
    return "\n".join(lines) + "\n"


def _cells(outcome: Outcome) -> list[str]:
    what = f"**{outcome.scenario}**: {outcome.about}"
    if outcome.skipped:
        return [what, *["-"] * (len(_COLUMNS) - 3), str(outcome.seed), outcome.skipped]
    return [
        what,
        # A run that could not begin has none.
        str(outcome.totals.get("jobs", 0)),
        str(outcome.lost),
        str(outcome.doubled),
        f"{outcome.wasted:,.0f}",
        f"{outcome.destroyed:,.0f}",
        _recovery(outcome),
        f"{outcome.seconds:.0f} s",
        str(outcome.seed),
        f"no: {len(outcome.problems)}" if outcome.problems else "yes",
    ]


def _recovery(outcome: Outcome) -> str:
    seconds = [each for times in outcome.recovery.values() for each in times]
    if not seconds:
        return "-"
    return f"{statistics.fmean(seconds):.1f} s ({max(seconds):.1f} s)"
