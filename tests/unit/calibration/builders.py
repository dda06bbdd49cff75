"""Turns of an experiment, made up."""

from nova_twotier.calibration.experiment import BACKGROUND, FOREGROUND, Rate, Turn
from nova_twotier.calibration.points import Bounds, points

BOUNDS = Bounds(drift=0.05, waited=0.05, gain=0.0)


def alone(number, utilisation, layout="single", **changes):
    """Both references: the foreground does 50 steps a second, the background 1000."""
    common = {"waited": 0.0, "foreign": 0.0, "steal": 0.0, **changes}
    front = Rate(common.pop("front", 50.0), utilisation, 2)
    back = Rate(1000.0, 1.0)
    yield Turn(utilisation, layout, FOREGROUND, number, (front,), (), **common)
    yield Turn(utilisation, layout, BACKGROUND, number, (), (back,), **common)


def both(number, utilisation, loss, progress, mechanism="nice", layout="single"):
    """A turn in which a background with a single process runs below a job of two."""
    return Turn(
        utilisation,
        layout,
        mechanism,
        number,
        (Rate(50.0 * (1 - loss), utilisation, 2),),
        (Rate(1000.0 * progress, 1.0),),
        waited=0.3,
        foreign=0.02,
        steal=0.01,
    )


def turns(utilisation, losses, progresses, mechanism="nice", layout="single"):
    """All turns of a point with steady references."""
    for number, (loss, progress) in enumerate(zip(losses, progresses, strict=True)):
        yield from alone(number, utilisation, layout)
        yield both(number, utilisation, loss, progress, mechanism, layout)
    yield from alone(len(losses), utilisation, layout)


def point(utilisation, loss=0.01, progress=None, jitter=0.001, mechanism="nice", layout="single"):
    """A point; by default its background uses nine tenths of the idle time."""
    progress = 0.9 * (1 - utilisation) if progress is None else progress
    steps = [jitter * number for number in (-2, -1, 0, 1, 2)]
    [found] = points(
        turns(
            utilisation,
            [loss + step for step in steps],
            [progress + step for step in steps],
            mechanism,
            layout,
        ),
        BOUNDS,
    )
    return found
