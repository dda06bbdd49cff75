"""The tables of a report."""

import html
import math
from collections.abc import Iterable, Sequence

from nova_twotier.sim.plots import words
from nova_twotier.sim.reproduce.claims import Claim, Finding, verdicts
from nova_twotier.sim.reproduce.experiment import Experiment, Plot, Table
from nova_twotier.sim.reproduce.numbers import Number, grouped
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.reproduce.runner import Outcome

#: Deviations up to the first are close, and above the second far: in per cent, or in points.
PERCENT = (5.0, 25.0)
POINTS = (1.0, 5.0)


def numbers(outcome: Outcome) -> Iterable[str]:
    """A table a group: rows and columns as the paper prints them."""
    if not outcome.numbers:
        return
    points = outcome.experiment.points
    if all(math.isnan(number.paper) for number in outcome.numbers):
        yield (
            "<section><h2>What was measured</h2><p class='legend'>"
            "<b>means over the seeds</b> (least to greatest)</p>"
        )
    else:
        yield _beside(points)
    for group, cells in grouped(outcome.numbers).items():
        yield _table(group, cells, points)
    yield "</section>"


def _beside(points: bool) -> str:
    """The heading of numbers that stand beside the paper's."""
    close, far = POINTS if points else PERCENT
    unit = "percentage points" if points else "%"
    return (
        "<section><h2>Ours beside the paper's</h2><p class='legend'>"
        "<b>ours</b> (least to greatest of the seeds), the paper's, and the deviation: "
        f"<span class='chip'>within {close:g} {unit}</span> "
        f"<span class='chip over'>▲ ours higher</span> "
        f"<span class='chip under'>▼ ours lower</span>, "
        f"<span class='chip over far'>▲ bold</span> <span class='chip under far'>▼ bold</span> "
        f"beyond {far:g} {unit}</p>"
    )


def claims(findings: Sequence[tuple[Claim, Finding]], experiment: Experiment) -> Iterable[str]:
    """A row for each claim of an experiment, if it has any."""
    if not findings:
        return
    against = experiment.against
    counted = verdicts(findings)
    rows = "".join(
        f"<tr><td>{html.escape(claim.text)}<small>{html.escape(claim.source)}; holds if: "
        f"{html.escape(claim.criterion)}</small></td>"
        f"<td>{html.escape(amount(claim.paper, claim.unit))}</td>"
        f"<td><b>{html.escape(amount(finding.ours, claim.unit))}</b></td>"
        f"<td>{_verdict(finding.holds)}</td></tr>"
        for claim, finding in findings
    )
    if against == "paper":
        title, what = "What the paper says of it", "claims"
        remark = " The bounds in 'holds if' are ours where the paper speaks in words."
    else:
        title, what, remark = "What was aimed at", f"{against}s", ""
    yield (
        f"<section><h2>{title}</h2>"
        f"<p>{counted.count(True)} of {len(counted)} {what} hold.{remark}</p>"
        "<table class='claims'><thead><tr><th scope='col'>claim</th>"
        f"<th scope='col'>{against}</th>"
        f"<th scope='col'>{experiment.measured}</th><th scope='col'></th></tr></thead>"
        f"<tbody>{rows}</tbody></table></section>"
    )


def tried(outcome: Outcome) -> Iterable[str]:
    """What the claims that do not hold give under each trial."""
    if not outcome.tried:
        return
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in outcome.tried)
    rows = "".join(
        f"<tr><td>{html.escape(claim.text)}</td>"
        f"<td>{html.escape(amount(finding.ours, claim.unit))}</td>"
        + "".join(
            f"<td><b>{html.escape(amount(each[index].ours, claim.unit))}</b>"
            f"{_verdict(each[index].holds)}</td>"
            for each in outcome.tried.values()
        )
        + "</tr>"
        for index, (claim, finding) in enumerate(outcome.findings)
        if finding.holds is False
    )
    yield (
        "<section><h2>What was tried for those that do not hold</h2><p>One change a column.</p>"
        "<table class='claims'><thead><tr><th scope='col'>claim</th><th scope='col'>as above</th>"
        f"{head}</tr></thead><tbody>{rows}</tbody></table></section>"
    )


def plain(tables: Iterable[Table]) -> Iterable[str]:
    """Tables of ours alone."""
    for table in tables:
        head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in table.columns)
        body = "".join(
            f"<tr><th scope='row'>{html.escape(name)}</th>"
            + "".join(f"<td>{html.escape(cell(value))}</td>" for value in values)
            + "</tr>"
            for name, values in table.rows.items()
        )
        yield (
            f"<section><table class='numbers'><caption>{html.escape(table.caption)}</caption>"
            f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></section>"
        )


def means(results: Results, plots: Sequence[Plot], axis: str) -> Iterable[str]:
    """The numbers behind the plots against load, or what else the axis says."""
    if not plots:
        return
    tables = []
    for plot in plots:
        table = Results(results.shown).means(plot.metric, plot.place).droplevel("place")
        table = table[list(dict.fromkeys(results.shown["series"]))]
        head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in table)
        body = "".join(
            f"<tr><th scope='row'>{load:g}</th>"
            + "".join(f"<td>{value:.4g}</td>" for value in row)
            + "</tr>"
            for load, row in zip(table.index, table.to_numpy(), strict=True)
        )
        caption = html.escape(f"{words.label(plot.metric)}, {plot.place}")
        tables.append(
            f"<table class='numbers'><caption>{caption}</caption>"
            f"<thead><tr><th scope='col'>{html.escape(axis)}</th>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )
    yield (
        "<section><details><summary>The numbers behind the plots: means over the seeds</summary>"
        f"{''.join(tables)}</details></section>"
    )


def deviation(number: Number, points: bool) -> str:
    """In words: `+12.3 %`, `-0.4 points`."""
    value = number.points if points else number.percent
    if math.isnan(value):
        return "-"
    return f"{value:+.1f} {'points' if points else '%'}"


def amount(value: float | str | None, unit: str = "") -> str:
    """A number or a word of a claim."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    # Adding 0 turns -0 into 0.
    return f"{round(float(value), 2) + 0.0:g} {unit}".strip()


def cell(value: float | str) -> str:
    """A number or a word of a table of ours."""
    return value if isinstance(value, str) else f"{value:.4g}"


def _table(group: str, numbers: Sequence[Number], points: bool) -> str:
    columns = list(dict.fromkeys(number.column for number in numbers))
    rows = dict.fromkeys(number.row for number in numbers)
    cells = {(number.row, number.column): number for number in numbers}
    head = "".join(f"<th scope='col'>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th scope='row'>{row}</th>"
        + "".join(_cell(cells[row, column], points) for column in columns)
        + "</tr>"
        for row in rows
    )
    return (
        f"<table class='numbers'><caption>{html.escape(group)}</caption>"
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(number: Number, points: bool) -> str:
    digits = 0 if isinstance(number.paper, int) else 1
    spread = (
        f"<small>{number.low:.{digits}f} to {number.high:.{digits}f}</small>"
        if number.low < number.high
        else ""
    )
    if math.isnan(number.ours):
        return "<td>-</td>"
    if math.isnan(number.paper):
        return f"<td><b>{number.ours:.{digits}f}</b>{spread}</td>"
    kind, sign = _kind(number.points if points else number.percent, points)
    return (
        f"<td><b>{number.ours:.{digits}f}</b>{spread}"
        f"<span class='printed'>{number.paper:.{digits}f}</span>"
        f"<span class='chip{kind}'>{sign}{deviation(number, points)}</span></td>"
    )


def _kind(value: float, points: bool) -> tuple[str, str]:
    """The classes and the sign of a deviation."""
    close, far = POINTS if points else PERCENT
    if math.isnan(value) or abs(value) <= close:
        return "", ""
    kind, sign = (" over", "▲ ") if value > 0 else (" under", "▼ ")
    return kind + (" far" if abs(value) > far else ""), sign


def _verdict(holds: bool | None) -> str:
    if holds is None:
        return "<span class='chip'>not tested</span>"
    if holds:
        return "<span class='chip under far'>✓ holds</span>"
    return "<span class='chip over far'>✗ does not hold</span>"
