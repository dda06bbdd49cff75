"""JSON Schemas of predictions: when jobs start and end, and how right such predictions were."""

from nova_twotier.api.schemas import QUEUE, WHY


def _time(description: str) -> dict:
    return {"type": ["string", "null"], "format": "date-time", "description": description}


_LOW, _HIGH = "Begin of the interval that holds it with", "End of the interval that holds it with"
_CHANCE = "a probability of 80 %; null while too few jobs have shown how far predictions are off."

#: Properties of a job.
PREDICTION = {
    "predicted_start": _time(
        "When it is expected to start; null if it does not wait, or if that is not known."
    ),
    "predicted_start_low": _time(f"{_LOW} {_CHANCE}"),
    "predicted_start_high": _time(f"{_HIGH} {_CHANCE}"),
    "predicted_finish": _time(
        "When it is expected to end; null if it is over, or if that is not known."
    ),
    "predicted_finish_low": _time(f"{_LOW} {_CHANCE}"),
    "predicted_finish_high": _time(f"{_HIGH} {_CHANCE}"),
    "predicted_at": _time("When that was predicted; null if nothing is."),
    "unpredicted": {
        **WHY,
        "description": "Why nothing is predicted of a job that is not over; null if something is.",
    },
}

#: How right the predictions of a job's queue have been.
PREDICTIONS = QUEUE["properties"]["predictions"]
