"""Float options that refuse `nan` and `inf`, which oslo.config accepts."""

import math
from typing import Any

from oslo_config import cfg, types


def require_finite(number: float) -> None:
    """:raises ValueError: if it is `nan`, which is within any `min` and `max`, or `inf`."""
    if not math.isfinite(number):
        raise ValueError(f"Should be a finite number, not {number}")


class _Finite(types.Float):
    def __call__(self, value: Any) -> float | None:
        number = super().__call__(value)
        if number is not None:
            require_finite(number)
        return number


class FloatOpt(cfg.Opt):
    """An option like `cfg.FloatOpt`, for finite numbers only.

    :param min: the least value, if there is one.
    :param max: the greatest value, if there is one.
    :param kwargs: as for any other option.
    """

    def __init__(
        self, name: str, min: float | None = None, max: float | None = None, **kwargs: Any
    ):
        super().__init__(name, type=_Finite(min, max), **kwargs)
