"""Finds policy rules that refer to themselves, or to rules that do not exist.

oslo.policy looks for them, too, but not behind `not`, and does not say which rule is wrong.
"""

from collections.abc import Iterator, Mapping

from oslo_policy.policy import AndCheck, NotCheck, OrCheck, RuleCheck


def mistake(rules: Mapping[str, object]) -> str | None:
    """Describe the first wrong reference of one rule to another; None if all are right."""
    found = {name: _references(check) for name, check in rules.items()}
    for name, references in found.items():
        for each in references:
            if each not in found:
                return f"{name} refers to the rule {each}, which does not exist"
    sound: set[str] = set()
    for name in found:
        if circle := _circle(name, found, [], sound):
            return f"rules refer to each other in a circle: {' -> '.join(circle)}"
    return None


def _references(check: object) -> list[str]:
    """The names of the rules that a check refers to."""
    return [leaf.match for leaf in leaves(check) if isinstance(leaf, RuleCheck)]


def leaves(check: object) -> Iterator[object]:
    """The single checks of which a rule is made by `and`, `or` and `not`."""
    if isinstance(check, NotCheck):
        yield from leaves(check.rule)
    elif isinstance(check, AndCheck | OrCheck):
        for each in check.rules:
            yield from leaves(each)
    else:
        yield check


def _circle(
    name: str, references: Mapping[str, list[str]], path: list[str], sound: set[str]
) -> list[str] | None:
    """Find a circle of references that a rule leads to; it ends with the rule it begins with.

    :param path: the rules that led to this one.
    :param sound: rules that lead to no circle; new ones are added.
    """
    if name in path:
        return [*path[path.index(name) :], name]
    if name not in sound:
        for each in references[name]:
            if circle := _circle(each, references, [*path, name], sound):
                return circle
        sound.add(name)
    return None
