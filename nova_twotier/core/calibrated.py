"""What a model file of `twotier-calibrate` says, beyond the fields of a progress model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nova_twotier.core.progress import InvalidModel, Progress, load

#: What a file may hold besides the fields of `Progress`.
_THRESHOLD, _CONDITIONS = "threshold", "conditions"


@dataclass(frozen=True)
class Calibrated:
    """A progress model, and the threshold that was measured with it.

    :param threshold: foreground CPU utilisation from which on a slot is closed to the background;
        None if the measurement did not show one.
    """

    progress: Progress
    threshold: float | None = None


def parse(text: str, name: str) -> Calibrated:
    """The content of a model file.

    :param name: stands for the file in errors.
    :raises InvalidModel: if it is not JSON, or a field is unknown or out of its range.
    """
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InvalidModel(f"{name}: is not JSON ({error})") from None
    if not isinstance(values, Mapping):
        return Calibrated(load(values, name))  # which refuses it
    fields = {key: values[key] for key in values if key not in (_THRESHOLD, _CONDITIONS)}
    return Calibrated(load(fields, name), _threshold(values.get(_THRESHOLD), name))


def _threshold(value: Any, name: str) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (number and 0 <= value <= 1):
        return value
    raise InvalidModel(f"{name}: threshold is {value!r}; give a number from 0 to 1")
