"""Warn of misspelt keys in aggregates and flavors, which nothing reads and nothing refuses."""

import difflib
from collections.abc import Collection, Mapping, Sequence

from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks.deployment import Facts
from nova_twotier.audit.checks.results import success, warning
from nova_twotier.audit.listed import listed
from nova_twotier.cloud import aggregates
from nova_twotier.conf import scheduler
from nova_twotier.core.flavors import EXTRA_SPECS

_PREFIX = "twotier:"
#: In the metadata of aggregates, with those by which Nova's scheduler overrides our multipliers.
_OF_AGGREGATES = (
    *aggregates.KEYS,
    *(f"twotier_{each.name}" for each in scheduler.OPTS if each.name.endswith("_multiplier")),
)
#: How much a key without our prefix is like one of ours if it is meant to be that: others may have
#: keys of their own.
_ALIKE = 0.9


def of_aggregates(_conf, facts: Facts) -> Result:
    """The metadata of aggregates, of hosts or not, has none of our keys misspelt."""
    return _result("the metadata of the aggregates", facts.aggregates, _OF_AGGREGATES)


def of_flavors(_conf, facts: Facts) -> Result:
    """The extra specs of flavors have none of our keys misspelt."""
    return _result("the extra specs of the flavors", facts.flavors, EXTRA_SPECS)


def _result(where: str, found: Mapping[str, Collection[str]], known: Sequence[str]) -> Result:
    wrong = [
        f"{key} in {name}{meant}"
        for name, keys in sorted(found.items())
        for key in sorted(keys)
        if (meant := _meant(key, known)) is not None
    ]
    if not wrong:
        return success()
    return warning(
        f"{where} have keys that nobody reads: {listed(wrong)}; there are {', '.join(known)}"
    )


def _meant(key: str, known: Sequence[str]) -> str | None:
    """The suggestion after a misspelt key, empty if no known key is close; None if it is right."""
    if key in known:
        return None
    text = key.strip().lower()
    if not text.startswith(_PREFIX):
        near = difflib.get_close_matches(text, known, 1, _ALIKE)
        return f" (did you mean {near[0]}?)" if near else None
    # All begin with the prefix, which makes none of them more alike.
    rests = [each.removeprefix(_PREFIX) for each in known if each.startswith(_PREFIX)]
    near = difflib.get_close_matches(text.removeprefix(_PREFIX), rests, 1)
    return f" (did you mean {_PREFIX}{near[0]}?)" if near else ""
