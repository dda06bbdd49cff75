"""The claims of experiments in a Markdown document: what holds, what does not, and why.

They are between two lines that the document has, a section for each experiment. Writing one
replaces its own section only, so that experiments can be run at different times.
"""

import math
import pathlib
import re
from collections.abc import Iterator

from nova_twotier.sim import whole_file
from nova_twotier.sim.reproduce import registry
from nova_twotier.sim.reproduce.claims import verdicts
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.reasons import REASONS
from nova_twotier.sim.reproduce.report_tables import amount, cell, deviation
from nova_twotier.sim.reproduce.runner import Outcome

BEGIN, END = "<!-- claims -->\n", "<!-- end of claims -->\n"
_SECTION = re.compile(r"^## (\S+)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
#: Where no reason is known.
UNKNOWN = "reason not found"
HOLDS = " (holds)"


class NoPlace(ValueError):
    """A document without the two lines; the message says which they are."""


def check(path: pathlib.Path) -> None:
    """:raises NoPlace: if there is no place for claims in a document."""
    _split(path)


def write(path: pathlib.Path, outcome: Outcome, command: str) -> None:
    """Replace or add the section of an experiment.

    :param command: that made the outcome.
    :raises NoPlace: if there is no place for it.
    """
    before, between, after = _split(path)
    sections = {found[1]: found[0].strip() for found in _SECTION.finditer(between)}
    sections[outcome.experiment.name] = section(outcome, command)
    text = "\n\n".join(sections[name] for name in registry.EXPERIMENTS if name in sections)
    with whole_file.replacing(path) as part:
        part.write_text(f"{before}{BEGIN}\n{text}\n\n{END}{after}", encoding="utf-8")


def section(outcome: Outcome, command: str) -> str:
    """The claims, what was tried for those that do not hold, and further tables.

    Of printed numbers, only the one of each row that is furthest off.
    """
    experiment = outcome.experiment
    against, measured = experiment.against, experiment.measured
    lines = [f"## {experiment.name}", "", f"{experiment.source}, {experiment.about}: `{command}`"]
    if outcome.findings:
        found = verdicts(outcome.findings)
        lines[-1] += f"; {found.count(True)} of {len(found)} claims hold."
        lines += ["", f"| claim | {against} | {measured} | holds |", "|---|---|---|---|"]
        lines += _claims(outcome)
        lines += _tried(outcome)
    if numbers := list(_furthest(outcome)):
        lines += ["", f"| furthest off | {against} | {measured} | deviation |", "|---|---|---|---|"]
        points = experiment.points
        for number in numbers:
            cells = (number.name, amount(number.paper), amount(number.ours))
            lines.append(_row(*cells, deviation(number, points)))
    for table in experiment.tables(outcome.results, outcome.settings):
        lines += ["", f"{table.caption}:", "", _row("", *table.columns)]
        lines.append("|---" * (1 + len(table.columns)) + "|")
        lines += [_row(name, *map(cell, values)) for name, values in table.rows.items()]
    return "\n".join(lines)


def _claims(outcome: Outcome) -> Iterator[str]:
    reasons = REASONS.get(outcome.experiment.name, {})
    for index, (claim, finding) in enumerate(outcome.findings):
        verdict = {True: "yes", None: "not tested"}.get(finding.holds)
        if verdict is None:
            reason = reasons.get(claim.text) or _not_found(outcome, index)
            where = f" (at {', '.join(finding.against)})" if finding.against else ""
            verdict = f"**no**{where}: {reason}"
        numbers = (amount(value, claim.unit) for value in (claim.paper, finding.ours))
        yield _row(claim.text, *numbers, verdict)


def _not_found(outcome: Outcome, index: int) -> str:
    """What is to be said of a claim that does not hold for no reason that is known.

    :param index: of the claim.
    """
    if not outcome.tried:
        return UNKNOWN
    helps = [name for name, findings in outcome.tried.items() if findings[index].holds]
    return f"{UNKNOWN}; {'holds with ' + ', '.join(helps) if helps else 'nothing tried helps'}"


def _tried(outcome: Outcome) -> Iterator[str]:
    """A row for each claim that does not hold, a column for each trial."""
    if not outcome.tried:
        return
    yield from ("", "What was tried for those that do not hold, one change a column:", "")
    yield _row("claim", "as above", *outcome.tried)
    yield "|---" * (2 + len(outcome.tried)) + "|"
    for index, (claim, finding) in enumerate(outcome.findings):
        if finding.holds is False:
            others = [findings[index] for findings in outcome.tried.values()]
            yield _row(
                claim.text,
                amount(finding.ours, claim.unit),
                *(amount(each.ours, claim.unit) + HOLDS * (each.holds is True) for each in others),
            )


def _furthest(outcome: Outcome) -> Iterator[Number]:
    """For each row of each group, the number that deviates most from the one in the paper."""
    rows: dict[tuple[str, str], list[Number]] = {}
    for number in outcome.numbers:
        rows.setdefault((number.group, number.row), []).append(number)
    for numbers in rows.values():
        if outcome.experiment.points:
            yield max(numbers, key=lambda each: abs(each.points))
        elif known := [each for each in numbers if not math.isnan(each.percent)]:
            yield max(known, key=lambda each: abs(each.percent))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _split(path: pathlib.Path) -> tuple[str, str, str]:
    """What is before, between and after the two lines."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    between, end, after = rest.partition(END)
    if not (begin and end):
        raise NoPlace(
            f"{path} has no place for claims; add the lines {BEGIN.strip()} and {END.strip()} "
            "where they are to be"
        )
    return before, between, after
