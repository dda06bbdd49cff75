"""All reasons, their codes by name, and how they are stored."""

from collections.abc import Mapping
from typing import Any

from nova_twotier.core.reasons import changes, failures, starts, waits
from nova_twotier.core.reasons.reason import EFFECTS, Code, Effect, Reason

__all__ = ["CODES", "LEGACY", "Code", "Effect", "Reason", "dump", "load"]

#: What was recorded before there were codes, or by a newer release than this one.
LEGACY = Code(
    "other",
    "{before}[{by}][{after}]",
    "A text of an earlier release, or a code that this release does not know.",
    "See the text; it is renewed with the next decision about the job.",
)
#: The modules of the list, in the order of the documentation.
PARTS = (waits, starts, changes, failures)
#: The closed list: every reason has one of these codes.
CODES: Mapping[str, Code] = {
    code.name: code
    for code in (*(c for part in PARTS for c in vars(part).values() if isinstance(c, Code)), LEGACY)
}


def dump(reason: Reason) -> dict[str, Any]:
    """As JSON has it, without what is not given."""
    data: dict[str, Any] = {"code": reason.code.name}
    if reason.parameters:
        data["parameters"] = dict(reason.parameters)
    if reason.by is not None:
        data["by"] = reason.by
    if reason.effect is not None:
        data["effect"] = str(reason.effect)
    return data


def load(data: Mapping[str, Any]) -> Reason:
    """Read a reason that `dump` has written.

    A newer release may have written it: of an unknown code only its name is left, and parameters
    and effects that are not known are left out.
    """
    code = CODES.get(data["code"])
    if code is None:
        return LEGACY(before=f"for the reason {data['code']}")
    effect = data.get("effect")
    given = data.get("parameters", {})
    known = {name: given[name] for name in code.fields if name in given}
    return code(data.get("by"), Effect(effect) if effect in EFFECTS else None, **known)
