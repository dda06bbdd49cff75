"""What schemas are made of."""

from nova_twotier.manager.db.models import NAME_LENGTH

#: No control characters.
PRINTABLE = "^[^\\x00-\\x1f\\x7f]*$"
COUNT = {"type": "integer", "minimum": 0}
NAME = {
    "type": "string",
    "maxLength": NAME_LENGTH,
    "pattern": PRINTABLE,
    "description": "For people; without control characters. Names need not be unique.",
}
UUID = {"type": "string", "format": "uuid"}


def object_of(properties: dict, required=None, **more) -> dict:
    """Of exactly these properties, all of them required unless it is said which."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
        **more,
    }
