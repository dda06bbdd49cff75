"""Finds policy rules whose text is not in the language of oslo.policy.

oslo.policy only logs them, and puts `!` in the place of what it does not understand: that refuses
everybody or, behind `not`, allows everybody.
"""

from collections.abc import Mapping

from oslo_policy.policy import RuleDefault

from nova_twotier.api.references import leaves

#: The check that refuses everybody.
NOBODY = "!"


def mistake(rules: Mapping[str, RuleDefault]) -> str | None:
    """Describe the first rule that oslo.policy cannot parse; None if it can parse all of them.

    :param rules: the rules of the files, by name.
    """
    for name, rule in rules.items():
        # Rules in the old syntax, which are lists, are not looked into.
        if isinstance(rule.check_str, str) and not _is_understood(rule):
            return f"{name}: {rule.check_str!r} cannot be understood"
    return None


def _is_understood(rule: RuleDefault) -> bool:
    words = [bare for word in rule.check_str.split() if (bare := word.strip("()"))]
    if str(rule.check) == NOBODY:
        return words == [NOBODY]
    found = sum(str(leaf) == NOBODY for leaf in leaves(rule.check))
    return found == words.count(NOBODY)
