"""Builds the OpenAPI 3.1 document from the routes and the schemas that validate requests."""

import http
import re

from nova_twotier.api import (
    array_schemas,
    cluster_schemas,
    examples,
    job_request_schemas,
    job_schemas,
    login_schemas,
    schedule_schemas,
    schemas,
    selection_schemas,
    standing_schemas,
    usage_schemas,
    utilisation_schemas,
)
from nova_twotier.api.endpoint import Endpoint
from nova_twotier.api.versions import CONDITIONAL, HEADER, NEWEST, SERVICE

_NAMED = {
    **schemas.NAMED,
    **job_request_schemas.NAMED,
    **job_schemas.NAMED,
    **selection_schemas.NAMED,
    **array_schemas.NAMED,
    **cluster_schemas.NAMED,
    **schedule_schemas.NAMED,
    **standing_schemas.NAMED,
    **usage_schemas.NAMED,
    **utilisation_schemas.NAMED,
    **login_schemas.NAMED,
}
_NAMES = {id(schema): name for name, schema in _NAMED.items()}
_COMPONENTS = "#/components/schemas/"
_UUID_PARAMETER = {
    "name": "uuid",
    "in": "path",
    "required": True,
    "schema": schemas.JOB_NAME,
}
_ARRAY_PARAMETER = {
    "name": "array",
    "in": "path",
    "required": True,
    "schema": array_schemas.ARRAY_NAME,
}
_VERSION_PARAMETER = {
    "name": HEADER,
    "in": "header",
    "schema": {"type": "string"},
    "description": f"The microversion asked for, such as `{SERVICE} {NEWEST}`.",
}
_CONDITION_PARAMETER = {
    "name": "If-None-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "The ETag of the answer that the client has: if that is still true, the "
    f"answer is 304 without a body. From microversion {CONDITIONAL} on.",
}
_ETAG = {
    "ETag": {
        "schema": {"type": "string"},
        "description": f"Of this answer to this reader, from microversion {CONDITIONAL} on.",
    }
}
_HEADERS = {
    HEADER: {
        "schema": {"type": "string"},
        "description": "The microversion of the answer.",
    },
    "X-Openstack-Request-Id": {
        "schema": {"type": "string"},
        "description": "To find the request in the operator's logs.",
    },
}


def document(operations) -> dict:
    """The document.

    :param operations: path, method and `Endpoint` of each.
    """
    paths: dict[str, dict] = {}
    for path, method, operation in operations:
        paths.setdefault(path, {})[method] = _describe(path, method, operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nova-twotier",
            "version": NEWEST,
            "summary": "Jobs of parallel processes on OpenStack Nova, in two CPU tiers.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {
                name: _example_of(name) | {key: _schema(value) for key, value in schema.items()}
                for name, schema in _NAMED.items()
            },
            "securitySchemes": {
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Auth-Token",
                    "description": "Of Keystone, for a project.",
                }
            },
        },
    }


def _describe(path: str, method: str, operation: Endpoint) -> dict:
    described = {
        "operationId": f"{method}{re.sub(r'[^a-zA-Z0-9]+', '_', path)}".rstrip("_"),
        "summary": operation.summary,
        "security": [{"token": []}] if operation.rule else [],
        "parameters": [
            *([_UUID_PARAMETER] if "{uuid}" in path else ()),
            *([_ARRAY_PARAMETER] if "{array}" in path else ()),
            *(
                {"name": name, "in": "query", "schema": schema, **_style(schema)}
                for name, schema in operation.query.items()
            ),
            _VERSION_PARAMETER,
            *([_CONDITION_PARAMETER] if operation.conditional else ()),
        ],
        "responses": {
            **{
                str(status): _response(status, schema)
                for status, schema in operation.answers.items()
            },
            **{str(status): _response(status, schemas.ERRORS) for status in operation.statuses},
        },
    }
    if operation.conditional:
        described["responses"]["200"]["headers"] = {**_HEADERS, **_ETAG}
        described["responses"]["304"] = {
            "description": http.HTTPStatus.NOT_MODIFIED.phrase,
            "headers": {**_HEADERS, **_ETAG},
        }
    if operation.rule:
        described["x-policy"] = operation.rule
    if operation.body:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _schema(operation.body)}},
        }
    return described


def _example_of(name: str) -> dict:
    """The keyword of a schema's example, if the schema does not have it itself."""
    return {"examples": [examples.EXAMPLES[name]]} if name in examples.EXAMPLES else {}


def _style(schema: dict) -> dict:
    """OpenAPI's `style` of a query parameter: lists are separated by commas."""
    return {"style": "form", "explode": False} if schema["type"] == "array" else {}


def _response(status: int, schema: dict) -> dict:
    return {
        "description": http.HTTPStatus(status).phrase,
        "headers": _HEADERS,
        "content": {"application/json": {"schema": _schema(schema)}},
    }


def _schema(value):
    """The schema with its references changed to references into the document."""
    if isinstance(value, dict):
        if name := _NAMES.get(id(value)):
            return {"$ref": _COMPONENTS + name}
        if "$ref" in value:
            return {"$ref": _COMPONENTS + value["$ref"].removeprefix("#")}
        return {key: _schema(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_schema(part) for part in value]
    return value
