"""Colours that the colour-blind tell apart (Okabe and Ito, 2008)."""

from collections.abc import Iterable

BLUE = "#0072b2"
ORANGE = "#e69f00"
GREEN = "#009e73"
VERMILION = "#d55e00"
SKY = "#56b4e9"
PURPLE = "#cc79a7"
BLACK = "#000000"
YELLOW = "#f0e442"

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
#: Of jobs: each hue at three depths, so that neighbours in number differ in both.
HUES = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW)
DEPTHS = (0.0, 0.38, -0.3)

FOREGROUND = BLUE
BACKGROUND = ORANGE
#: Stripe behind a background lane, and the grid.
STRIPE = "#f1f1f4"
GRID = "#d8d8dc"


def job(number: int) -> str:
    """The colour of a job: always the same for the same number."""
    return shade(HUES[number % len(HUES)], DEPTHS[number // len(HUES) % len(DEPTHS)])


def shade(colour: str, depth: float) -> str:
    """The colour mixed with white (depth up to 1) or with black (down to -1)."""
    target = 255 if depth > 0 else 0
    return _text(part + (target - part) * abs(depth) for part in parts(colour))


def translucent(colour: str, opacity: float) -> str:
    """The colour as plotly writes it with an opacity 0..1."""
    red, green, blue = parts(colour)
    return f"rgba({red},{green},{blue},{opacity})"


def ink(background: str) -> str:
    """Black or white, whichever is read better on the colour."""
    red, green, blue = parts(background)
    return BLACK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def lane(fills: list[str], front: bool) -> dict:
    """How plotly draws the bars of a tier: the foreground outlined, the background hatched."""
    return {
        "color": fills,
        "line": {"color": "#222222" if front else fills, "width": 0.5},
        "opacity": 1 if front else 0.75,
        "pattern": {
            "shape": "" if front else "/",
            "size": 5,
            "solidity": 0.35,
            "fillmode": "overlay",
            "fgcolor": "#ffffff",
        },
    }


def parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0..255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _text(values: Iterable[float]) -> str:
    return "#" + "".join(f"{round(value):02x}" for value in values)
