"""Says which roles a policy rule asks for, so that a refused user knows what to ask for."""

from collections.abc import Iterator
from itertools import chain, product

from oslo_policy.policy import AndCheck, Check, Enforcer, OrCheck, RuleCheck

#: Checks that say where a role must be held, by their text.
_IN_PROJECT, _IN_SYSTEM = "project_id:%(project_id)s", "system_scope:all"


def needed(enforcer: Enforcer, rule: str) -> str | None:
    """The role that a rule asks for, in words, such as "the role member in the project".

    Several if each of them will do; but if roles in the project will, only those, since nobody
    becomes an administrator for that. None if the rule, which the operator may have changed, asks
    for something else than a role.
    """
    ways = [way for way in map(_way, _alternatives(enforcer, enforcer.rules[rule])) if way]
    in_project = sorted({role for role, place in ways if place == _IN_PROJECT})
    if in_project:
        return f"the role {_or(in_project)} in the project"
    anywhere = sorted({role for role, place in ways if place is None})
    in_system = sorted({f"system-wide {role}" for role, place in ways if place == _IN_SYSTEM})
    return f"the role {_or([*anywhere, *in_system])}" if ways else None


def _alternatives(enforcer: Enforcer, check) -> Iterator[tuple]:
    """The ways to pass a check, each as a tuple of checks that must all pass."""
    if isinstance(check, OrCheck):
        for each in check.rules:
            yield from _alternatives(enforcer, each)
    elif isinstance(check, AndCheck):
        for ways in product(*(list(_alternatives(enforcer, each)) for each in check.rules)):
            yield tuple(chain(*ways))
    elif isinstance(check, RuleCheck):
        # The operator may have changed the policy file since it was checked.
        if check.match in enforcer.rules:
            yield from _alternatives(enforcer, enforcer.rules[check.match])
    else:
        yield (check,)


def _way(checks: tuple) -> tuple[str, str | None] | None:
    """The role that a policy rule requires, and where it must be held; None: anywhere.

    None if they are about something else than one role.
    """
    roles = [each.match for each in checks if isinstance(each, Check) and each.kind == "role"]
    rest = [str(each) for each in checks if not (isinstance(each, Check) and each.kind == "role")]
    if len(roles) != 1 or rest not in ([], [_IN_PROJECT], [_IN_SYSTEM]):
        return None
    return roles[0], rest[0] if rest else None


def _or(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
