"""Reads objects of JSON field by field; an error is a sentence that says where and what."""

import math
from collections.abc import Iterator
from typing import Any


class InvalidState(ValueError):
    """Data that is no state of a queue; the message says which field and what it may be."""


class Fields:
    """The fields of an object.

    :param data: as JSON has it.
    :param where: what to call it, such as `hosts[0]`.
    :raises InvalidState: if it is no object; so does every method if the field is wrong.
    """

    def __init__(self, data: Any, where: str):
        if not isinstance(data, dict):
            raise InvalidState(f"{where} is not an object with fields")
        self._data = dict(data)
        self.where = where

    def wrong(self, name: str, value: Any, wanted: str) -> InvalidState:
        return InvalidState(f"{self.where}: {name} is {shown(value)}; it must be {wanted}")

    def take(self, name: str, default: Any = None) -> Any:
        """Whatever a field has, each field once; null is as good as absent.

        :param default: None: the field is needed.
        """
        value = self._data.pop(name, None)
        if value is None and default is None:
            raise InvalidState(f"{self.where}: {name} is missing")
        return default if value is None else value

    def number(
        self, name: str, least: float, most: float = math.inf, default: float | None = None
    ) -> float:
        value = self.take(name, default)
        if not is_number(value) or not least <= value <= most:
            limits = f"from {least:g}" + (f" to {most:g}" if most < math.inf else "")
            limits = "" if least == -math.inf else f" {limits}"
            raise self.wrong(name, value, f"a number{limits}")
        return float(value)

    def optional(self, name: str) -> float | None:
        """A number from 0, or None."""
        return None if self._data.get(name) is None else self.number(name, 0)

    def whole(self, name: str, least: int, most: int = 10**15, default: int | None = None) -> int:
        value = self.take(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(name, value, f"a whole number from {least}")
        return value

    def string(self, name: str, default: str | None = None) -> str:
        value = self.take(name, default)
        if not isinstance(value, str):
            raise self.wrong(name, value, "a text")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, value, "true or false")
        return value

    def strings(self, name: str) -> list[str]:
        value = self.take(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(name, value, "a list of texts")
        return value

    def objects(self, name: str) -> Iterator["Fields"]:
        """The objects of a list; absent: none."""
        value = self.take(name, [])
        if not isinstance(value, list):
            raise self.wrong(name, value, "a list")
        for index, data in enumerate(value):
            yield Fields(data, f"{self.where}: {name}[{index}]")

    def end(self) -> None:
        """:raises InvalidState: if there is a field that nobody has taken."""
        for name in self._data:
            raise InvalidState(f"{self.where}: there is no field {name!r}")


def is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value)


def shown(value: Any) -> str:
    """A value for people, not all of it if it is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
