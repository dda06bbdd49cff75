"""Colours that the colour-blind tell apart (Okabe and Ito, 2008)."""

from collections.abc import Iterable
from typing import NamedTuple

BLUE = "#0072b2"
ORANGE = "#e69f00"
GREEN = "#009e73"
VERMILION = "#d55e00"
SKY = "#56b4e9"
PURPLE = "#cc79a7"
BLACK = "#000000"
WHITE = "#ffffff"

LINES = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)
#: A second sign beside the colour, for print in grey: the names of matplotlib and of plotly.
MARKERS = (
    ("o", "circle"),
    ("s", "square"),
    ("^", "triangle-up"),
    ("D", "diamond"),
    ("v", "triangle-down"),
    ("P", "cross"),
    ("X", "x"),
)
#: How lines are dashed, likewise.
DASHES = (("-", "solid"), ("--", "dash"), (":", "dot"), ("-.", "dashdot"))
FOREGROUND = BLUE
BACKGROUND = ORANGE
#: Stripe behind a background lane, and the grid.
STRIPE = "#f1f1f4"
GRID = "#d8d8dc"


class Style(NamedTuple):
    """How a curve is drawn; marker and dashes as matplotlib and as plotly name them."""

    colour: str
    marker: tuple[str, str]
    dashes: tuple[str, str]


def style(number: int) -> Style:
    """The style of a curve by its number from 0; the first 28 differ."""
    # A colour that comes again has another marker and other dashes.
    again, place = divmod(number, len(LINES))
    return Style(LINES[place], MARKERS[(place + again) % len(MARKERS)], DASHES[again % len(DASHES)])


def shade(colour: str, depth: float) -> str:
    """The colour mixed with white (depth up to 1) or with black (down to -1)."""
    target = 255 if depth > 0 else 0
    return _text(part + (target - part) * abs(depth) for part in parts(colour))


def translucent(colour: str, opacity: float) -> str:
    """The colour as plotly writes it with an opacity 0..1."""
    red, green, blue = parts(colour)
    return f"rgba({red},{green},{blue},{opacity})"


def parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0..255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _text(values: Iterable[float]) -> str:
    return "#" + "".join(f"{round(value):02x}" for value in values)
