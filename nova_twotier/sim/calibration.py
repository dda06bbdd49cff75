"""Progress models by name: those of the papers, and those of calibration files."""

import json
import pathlib

from nova_twotier.core.progress import MODELS, InvalidModel, Progress, load


def get(name: str) -> Progress:
    """The model of a paper, or of the file of a calibration.

    :raises InvalidModel: if there is neither.
    """
    if name in MODELS:
        return MODELS[name]
    known = ", ".join(MODELS)
    try:
        values = json.loads(pathlib.Path(name).read_text())
    except OSError as error:
        raise InvalidModel(
            f"progress model {name!r} is not one of {known}, nor a file that can be read "
            f"({error.strerror})"
        ) from None
    except ValueError as error:
        raise InvalidModel(f"{name}: is not JSON ({error})") from None
    return load(values, name)
