"""Validates requests against their schemas, with a sentence for each mistake."""

import base64
import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

from nova_twotier.api.errors import MOST, Refused, invalid
from nova_twotier.api.schemas import PRINTABLE, SHOWN

#: Upper bound of the number of query parameters.
_MOST_PARAMETERS = 20
#: Of the times that are stored, or shown again.
FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
#: As many names fit into an error message.
_FEW = 12
_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}

formats = FormatChecker(formats=())


@formats.checks("uuid")
def _is_uuid(value) -> bool:
    pattern = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return not isinstance(value, str) or bool(re.fullmatch(pattern, value, re.IGNORECASE))


@formats.checks("byte", raises=ValueError)
def _is_base64(value) -> bool:
    return not isinstance(value, str) or base64.b64decode(value, validate=True) is not None


@formats.checks("date-time", raises=ValueError)
def _is_time(value) -> bool:
    return not isinstance(value, str) or parse_time(value) is not None


def parse_time(value: str) -> datetime:
    """An RFC 3339 time; in a query, an unquoted `+` has become a space.

    :raises ValueError: if it is no such time, or has no time zone.
    """
    time = datetime.fromisoformat(value.upper().replace(" ", "+"))
    if time.tzinfo is None or "T" not in value.upper():
        raise ValueError(value)
    return time


def parse_seconds(name: str, value: str) -> float:
    """The seconds since the epoch of an RFC 3339 time that is stored or shown again in UTC.

    :param name: of the field or parameter.
    :raises Refused: if it is not from 1970 to 9999 in UTC.
    """
    time = parse_time(value)
    if not FIRST <= time <= LAST:
        raise invalid(f"{name}: give a time from {FIRST:%Y} to {LAST:%Y}")
    return time.timestamp()


def _pattern(_checker, pattern: str, value, _schema) -> Iterator[ValidationError]:
    """As in JSON Schema, `$` is the end; Python's is also the place before a last line break."""
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError("")


_Validator = validators.extend(Draft202012Validator, {"pattern": _pattern})


def validator(schema: dict) -> Draft202012Validator:
    _Validator.check_schema(schema)
    return _Validator(schema, format_checker=formats)


def check(checker: Draft202012Validator, value) -> None:
    """:raises Refused: with one sentence for each mistake."""
    mistakes = sorted(checker.iter_errors(value), key=lambda error: [str(p) for p in error.path])
    if mistakes:
        sentences = (sentence for error in mistakes[:MOST] for sentence in _sentences(error))
        raise invalid(*dict.fromkeys(sentences))


def _sentences(error) -> list[str]:
    """What is wrong and what is allowed; input is repeated only in names, and truncated."""
    where = ".".join(str(step) for step in error.absolute_path)
    field = f"{where}: " if where else ""
    wanted = error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in error.instance]
            return [f"{field}{name} is missing" for name in missing]
        case "additionalProperties":
            known = error.schema["properties"]
            unknown = [name for name in error.instance if name not in known]
            return [
                f"{field}{name[:40]!r} is not known{_instead(name, known)}"
                for name in unknown[:MOST]
            ]
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else wanted
            return [f"{field}give {' or '.join(_TYPES[kind] for kind in kinds)}"]
        case "minimum":
            return [f"{field}give at least {wanted}"]
        case "exclusiveMinimum":
            or_null = ", or null" if "null" in error.schema["type"] else ""
            return [f"{field}give more than {wanted}{or_null}"]
        case "maximum":
            return [f"{field}give at most {wanted:.16g}"]
        case "minItems" | "maxItems":
            return [f"{field}give {'at least' if 'min' in error.validator else 'at most'} {wanted}"]
        case "minLength":
            return [f"{field}give a text that is not empty"]
        case "maxLength":
            return [f"{field}give at most {wanted} characters"]
        case "enum":
            one_of = "one of " if len(wanted) > 1 else ""
            return [f"{field}give {one_of}{', '.join(map(_value, wanted))}"]
        case "format":
            return [f"{field}give {_FORMATS[wanted]}"]
        case "pattern":
            return [f"{field}give a text {_TEXTS.get(wanted, f'that matches {wanted}')}"]
        case "anyOf":
            # If the type is right, report what is wrong with the value.
            wide = ("type", "enum")
            near = [part for part in error.context if part.path or part.validator not in wide]
            if near:
                return [sentence for part in near for sentence in _sentences(part)]
    return [f"{field}{error.schema.get('description', 'not as the OpenAPI document says')}"]


def _value(value) -> str:
    """An allowed value as clients write it: a string without quotation marks, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _instead(name: str, known: Iterable[str]) -> str:
    """What to give instead of an unknown name."""
    known = list(known)
    if not known:
        return "; there are none"
    if len(known) <= _FEW:
        return f"; there are {', '.join(known)}"
    if near := difflib.get_close_matches(name, known, 1):
        return f"; did you mean {near[0]}?"
    return "; /v1/openapi.json lists all that there are"


_TEXTS = {
    PRINTABLE: "without control characters",
    SHOWN: "without control characters, and not only spaces",
}
_FORMATS = {
    "byte": "a text in base64, in one line",
    "uuid": "a uuid",
    "date-time": "a time with its zone, such as 2026-01-31T12:00:00Z",
}


def read_body(req, checker: Draft202012Validator) -> dict:
    """The JSON body of a request.

    :raises Refused: if it is not JSON, or not as the schema says.
    """
    kind = (req.content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "request.unsupported_media_type", "send Content-Type: application/json")
    text = req.bounded_stream.read()
    if not text:
        raise invalid("the body is empty; send a JSON object, with its Content-Length")
    try:
        body = _parsed(text)
        # It, too, follows the body to its depth, from a place deeper in the stack.
        check(checker, body)
    except RecursionError:
        raise invalid("the body is nested too deeply") from None
    return body


def _parsed(text: bytes):
    """:raises Refused: if it is not JSON."""
    try:
        body = json.loads(text, parse_constant=_constant, object_pairs_hook=_object)
        json.dumps(body, ensure_ascii=False).encode()  # no lone surrogates
    except ValueError as error:
        raise invalid(f"the body is not JSON: {_cause(error)}") from None
    return body


def _constant(name: str):
    raise ValueError(f"{name} is not a number in JSON")


def _object(pairs: list[tuple]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


def _cause(error: ValueError) -> str:
    if isinstance(error, UnicodeError):
        return "it is not UTF-8, or has half a character"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in line {error.lineno}, column {error.colno}"
    return str(error).splitlines()[0]


def read_query(query_string: str, checker: Draft202012Validator) -> dict:
    """The parameters of a request, in the types of their schemas.

    :raises Refused: if one is unknown, is given twice, or is not as its schema says.
    """
    try:
        pairs = parse_qsl(
            query_string,
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_PARAMETERS,
        )
        given = _object(pairs)
    except UnicodeError:
        raise invalid("the query is not UTF-8") from None
    except ValueError:
        raise invalid("the query has a parameter twice, or too many") from None
    known = checker.schema["properties"]
    typed = {name: _typed(value, known.get(name, {})) for name, value in given.items()}
    check(checker, typed)
    return typed


def _typed(text: str, schema: Mapping):
    """The text converted to the type of its schema, or unchanged if it cannot be converted."""
    if schema.get("type") == "integer" and re.fullmatch("-?[0-9]{1,4000}", text):
        return int(text)
    if schema.get("type") == "array":
        return text.split(",")
    if schema.get("type") == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text


def query_schema(parameters: Mapping[str, dict]) -> dict:
    return {"type": "object", "properties": dict(parameters), "additionalProperties": False}
