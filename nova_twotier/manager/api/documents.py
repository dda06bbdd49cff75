"""What a client reads first: which versions there are, and the OpenAPI document."""

from nova_twotier.manager.api import openapi, schemas
from nova_twotier.manager.api.operation import Call, Resource, operation
from nova_twotier.manager.api.versions import NEWEST, OLDEST


def _version(call: Call) -> dict:
    return {
        "id": "v1.0",
        "status": "CURRENT",
        "min_version": OLDEST,
        "max_version": NEWEST,
        "links": [{"rel": "self", "href": call.href("/v1/")}],
    }


class Versions(Resource):
    @operation("List the versions of the API", rule=None, answers={200: schemas.VERSIONS})
    def on_get(self, call: Call):
        return {"versions": [_version(call)]}


class Version(Resource):
    @operation("Show the version of the API", rule=None, answers={200: schemas.VERSION})
    def on_get(self, call: Call):
        return {"version": _version(call)}


class OpenApi(Resource):
    @operation("Describe the API", rule=None, answers={200: {"type": "object"}})
    def on_get(self, call: Call):
        return openapi.DOCUMENT
