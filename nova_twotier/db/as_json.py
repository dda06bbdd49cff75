"""Values of plans and progress as JSON has them."""

from dataclasses import fields, is_dataclass
from typing import Any

from nova_twotier.core import reasons
from nova_twotier.core.reasons import Reason


def plain(value: Any) -> Any:
    """Data classes as objects, tuples as arrays; what is in them likewise."""
    if isinstance(value, Reason):
        return reasons.dump(value)
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    return value
