"""Progress models by name: those of the papers, and those of calibration files."""

import pathlib

from nova_twotier.core import calibrated
from nova_twotier.core.calibrated import Calibrated
from nova_twotier.core.progress import MODELS, InvalidModel, Progress


def get(name: str) -> Progress:
    """The model of a paper, or of the file of a calibration.

    :raises InvalidModel: if there is neither.
    """
    return _find(name).progress


def threshold(name: str) -> float | None:
    """The threshold that a calibration measured; None if it did not, or the name is a paper's.

    :raises InvalidModel: if there is neither.
    """
    return _find(name).threshold


def _find(name: str) -> Calibrated:
    if name in MODELS:
        return Calibrated(MODELS[name])
    known = ", ".join(MODELS)
    try:
        text = pathlib.Path(name).read_text()
    except OSError as error:
        raise InvalidModel(
            f"progress model {name!r} is not one of {known}, nor a file that can be read "
            f"({error.strerror})"
        ) from None
    return calibrated.parse(text, name)
