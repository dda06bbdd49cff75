"""Reasons as data: a code of a closed list, its parameters, and the job that is to blame.

The text is made when somebody reads it, so that it names another tenant's job only to those who may
know of it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

#: What a parameter may be: what JSON and a text can both have.
Value = str | int | float

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_FIELD = re.compile(r"{(\w+)}")
#: A number of things, in the plural: up to its ending, and its parameter. "are" is for several.
_COUNTED = re.compile(
    r"({(\w+)}(?: idle| free| foreground| background| {tier})* (?:slot|VM|server|process))"
    r"(?:es|s)\b(?! are)"
)

#: What people call the tiers; programs read the parameter as it is.
_TIERS = {"fg": "foreground", "bg": "background"}


class Effect(StrEnum):
    """What a reason has led to, where the same cause may lead to several things."""

    NOT_STARTED = "not-started"
    RESTARTED = "restarted"
    GIVEN_UP = "given-up"
    POWERED_ON = "powered-on"
    SAVED = "saved"
    LOST = "lost"


#: The texts of the effects; `{}` is that of the code.
EFFECTS = {
    Effect.NOT_STARTED: "did not start: {}",
    Effect.RESTARTED: "restarts from the beginning: {}",
    Effect.GIVEN_UP: "{}, and its retries are used up",
    Effect.POWERED_ON: "its servers were started again: {}",
    Effect.SAVED: "{}, state saved",
    Effect.LOST: "{}, begins anew",
}


def job_number(number: int) -> str:
    """The name of a job for operators and logs."""
    return f"job {number}"


@dataclass(frozen=True, repr=False)
class Code:
    """One kind of reason. Call it with the parameters to get a `Reason`.

    :param name: for programs; never reused for another meaning.
    :param text: for people, with `{parameter}`; `{by}` is the other job. A part in brackets is left
        out if one of its parameters is not given.
    :param meaning: what is the case, in a sentence for users.
    :param cure: what its reader can do about it, in a sentence.
    """

    name: str
    text: str
    meaning: str
    cure: str

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of its parameters, `by` among them if another job may be to blame."""
        return tuple(dict.fromkeys(_FIELD.findall(self.text)))

    def __call__(
        self, by: int | None = None, effect: Effect | None = None, **given: Value | None
    ) -> "Reason":
        """
        :param by: number of the job that is to blame.
        :param given: its parameters; those that are None are left out.
        :raises TypeError: for a parameter that the text does not have.
        """
        fields = self.fields
        for name in given:
            if name not in fields:
                raise TypeError(f"reason {self.name} has no parameter {name}")
        # In the order of the text: that of the call, or of JSON, makes no difference.
        parameters = tuple(
            [(name, value) for name in fields if (value := given.get(name)) is not None]
        )
        return Reason(self, parameters, by, effect)


class Reason(NamedTuple):
    """Why a job waits, starts, is preempted, is refused or fails. A value that can be shared.

    :param parameters: names and values, in the order of the code's text.
    :param by: number of the job that is to blame, if it is another one.
    """

    code: Code
    parameters: tuple[tuple[str, Value], ...] = ()
    by: int | None = None
    effect: Effect | None = None

    def led_to(self, effect: Effect) -> "Reason":
        return self._replace(effect=effect)

    def plus(self, **more: Value) -> "Reason":
        """The same with more parameters."""
        return self.code(self.by, self.effect, **dict(self.parameters), **more)

    def text(self, name: Callable[[int], str] = job_number) -> str:
        """
        :param name: names a job, by its number, for the reader of the text.
        """
        values = {field: _shown(field, value) for field, value in self.parameters}
        if self.by is not None:
            values["by"] = name(self.by)

        def part(match: re.Match[str]) -> str:
            return match[1] if all(field in values for field in _FIELD.findall(match[1])) else ""

        template = _OPTIONAL.sub(part, self.code.text)
        template = _COUNTED.sub(
            lambda match: match[1] if values.get(match[2]) == "1" else match[0], template
        )
        text = _FIELD.sub(lambda match: values.get(match[1], "?"), template)
        return text if self.effect is None else EFFECTS[self.effect].format(text)

    def __str__(self) -> str:
        return self.text()


def _shown(field: str, value: Value) -> str:
    if field == "tier":
        return _TIERS.get(str(value), str(value))
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:g}"
    return value if isinstance(value, str) else str(value)
