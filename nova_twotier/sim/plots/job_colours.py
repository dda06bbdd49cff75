"""The colours of jobs, which are those of the board's colours.js on a light page."""

import math

from nova_twotier.sim.plots.palette import BLACK, WHITE

#: Lightness and chroma of OKLCH: two steps, so that jobs of a similar hue still differ.
SHADES = ((0.62, 0.13), (0.76, 0.11))
HUES = 18
#: Hues from a number to the next: neighbours are far apart on the circle.
STEP = 7
#: Above this luminance, black on a colour has more contrast than white.
MIDDLE = 0.179


def of(number: int) -> str:
    """The colour of a job: always the same for the same number, and another for the next ones."""
    return _COLOURS[number % len(_COLOURS)]


def ink(colour: str) -> str:
    """The colour of text on a colour: black or white."""
    return BLACK if _luminance(colour) > MIDDLE else WHITE


def _luminance(colour: str) -> float:
    """WCAG's relative luminance, 0 to 1."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _made(number: int) -> str:
    lightness, chroma = SHADES[(number + number // HUES) % len(SHADES)]
    hue = 2 * math.pi * (number * STEP % HUES) / HUES
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    # Björn Ottosson's OKLab, https://bottosson.github.io/posts/oklab/.
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    parts = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    )
    return "#" + "".join(f"{_byte(part):02x}" for part in parts)


def _byte(linear: float) -> int:
    part = min(1.0, max(0.0, linear))
    part = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
    return math.floor(255 * part + 0.5)


_COLOURS = tuple(map(_made, range(len(SHADES) * HUES)))
