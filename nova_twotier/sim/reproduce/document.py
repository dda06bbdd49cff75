"""The claims of experiments in a Markdown document: what holds, what does not, and why.

They are between two lines that the document has, a section for each experiment. Writing one
replaces its own section only, so that experiments can be run at different times.
"""

import math
import pathlib
import re
from collections.abc import Iterator

from nova_twotier.sim.reproduce import registry
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.reasons import REASONS
from nova_twotier.sim.reproduce.report_tables import amount, deviation
from nova_twotier.sim.reproduce.runner import Outcome

BEGIN, END = "<!-- claims -->\n", "<!-- end of claims -->\n"
_SECTION = re.compile(r"^#### (\S+)\n.*?(?=^#### |\Z)", re.MULTILINE | re.DOTALL)
#: Where no reason is known.
UNKNOWN = "reason not found"


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
    path.write_text(f"{before}{BEGIN}\n{text}\n\n{END}{after}", encoding="utf-8")


def section(outcome: Outcome, command: str) -> str:
    """The claims, and where there are numbers, the one of each row that is furthest off."""
    experiment, against = outcome.experiment, outcome.experiment.against
    lines = [f"#### {experiment.name}", "", f"{experiment.source}, {experiment.about}: `{command}`"]
    if outcome.findings:
        verdicts = [finding.holds for _claim, finding in outcome.findings]
        lines[-1] += f"; {verdicts.count(True)} of {len(verdicts)} claims hold."
        lines += ["", f"| claim | {against} | ours | holds |", "|---|---|---|---|"]
        lines += _claims(outcome)
    if outcome.numbers:
        lines += ["", f"| furthest off | {against} | ours | deviation |", "|---|---|---|---|"]
        points = experiment.points
        for number in _furthest(outcome):
            cells = (number.name, amount(number.paper), amount(number.ours))
            lines.append(_row(*cells, deviation(number, points)))
    return "\n".join(lines)


def _claims(outcome: Outcome) -> Iterator[str]:
    reasons = REASONS.get(outcome.experiment.name, {})
    for claim, finding in outcome.findings:
        verdict = {True: "yes", None: "not tested"}.get(finding.holds)
        if verdict is None:
            verdict = f"**no**: {reasons.get(claim.text, UNKNOWN)}"
        numbers = (amount(value, claim.unit) for value in (claim.paper, finding.ours))
        yield _row(claim.text, *numbers, verdict)


def _furthest(outcome: Outcome) -> Iterator[Number]:
    """Of each group and row, the number that deviates most."""
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
