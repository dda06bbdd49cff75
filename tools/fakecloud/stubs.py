"""Stand-ins for Glance (images in memory) and Neutron (empty)."""

import datetime
import json
import re
import threading
import uuid

IMAGE_ID = "c1220500-0000-4000-8000-00000000f4ce"
IMAGE_NAME = "cirros-fake"

_BASE = (
    "id",
    "name",
    "status",
    "visibility",
    "owner",
    "checksum",
    "container_format",
    "disk_format",
    "created_at",
    "updated_at",
    "self",
    "file",
    "schema",
    "locations",
    "os_hash_algo",
    "os_hash_value",
    "direct_url",
)
_TYPES = {
    "size": ["null", "integer"],
    "virtual_size": ["null", "integer"],
    "min_disk": "integer",
    "min_ram": "integer",
    "protected": "boolean",
    "os_hidden": "boolean",
    "tags": "array",
    "locations": "array",
}
_IMAGE_SCHEMA = {
    "name": "image",
    "properties": {
        name: {"type": _TYPES.get(name, ["null", "string"])} for name in (*_BASE, *_TYPES)
    },
    "additionalProperties": {"type": "string"},
}


def answer(start_response, status: str, body=None):
    """Answer a request with a body in JSON, or without one."""
    if body is None:
        # glanceclient parses an empty answer that calls itself JSON.
        headers = [] if status.startswith("204") else [("Content-Length", "0")]
        start_response(status, headers)
        return []
    payload = json.dumps(body).encode()
    start_response(
        status, [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))]
    )
    return [payload]


def _request_body(environ) -> bytes:
    return environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))


def neutron(environ, start_response):
    """Every collection is empty; what is asked to be deleted or bound is gone already."""
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].strip("/")
    _request_body(environ)
    if path in ("", "v2.0"):
        link = {"rel": "self", "href": f"http://{environ['HTTP_HOST']}/v2.0/"}
        return answer(
            start_response,
            "200 OK",
            {"versions": [{"id": "v2.0", "status": "CURRENT", "links": [link]}]},
        )
    parts = path.removesuffix(".json").split("/")[1:]
    if method == "DELETE":
        return answer(start_response, "204 No Content")
    if method == "GET" and len(parts) == 1:
        return answer(start_response, "200 OK", {parts[0].replace("-", "_"): []})
    status, kind = "404 Not Found", "NotFound"
    if parts[0] == "networks":
        kind = "NetworkNotFound"  # any other makes Nova answer 500
    elif parts[0] == "auto-allocated-topology":
        # Nova asks for it when a server is to have any network, and answers 400 to this.
        status, kind = "409 Conflict", "AutoAllocationFailure"
    error = {"type": kind, "message": path, "detail": ""}
    return answer(start_response, status, {"NeutronError": error})


class Glance:
    """The part of the image API that Nova and the command line use."""

    def __init__(self):
        self._lock = threading.Lock()
        self._images = {}
        self._add({"id": IMAGE_ID, "name": IMAGE_NAME, "visibility": "public", "size": 16300544})

    def __call__(self, environ, start_response):
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].strip("/")
        body = _request_body(environ)
        if path in ("", "versions"):
            return answer(start_response, "300 Multiple Choices", self._versions(environ))
        if path == "v2/schemas/image":
            return answer(start_response, "200 OK", _IMAGE_SCHEMA)
        found = re.fullmatch(r"v2/images(?:/([^/]+))?(/file)?", path)
        if not found:
            return answer(start_response, "404 Not Found")
        image_id, data = found.groups()
        with self._lock:
            if image_id is None:
                return self._collection(method, environ, body, start_response)
            if image_id not in self._images:
                return answer(start_response, "404 Not Found")
            if data:
                return answer(start_response, "204 No Content")
            return self._image(method, self._images[image_id], body, start_response)

    def _collection(self, method, environ, body, start_response):
        if method == "POST":
            return answer(start_response, "201 Created", self._add(json.loads(body)))
        wanted = dict(
            pair.split("=", 1) for pair in environ.get("QUERY_STRING", "").split("&") if "=" in pair
        )
        images = [
            image
            for image in self._images.values()
            if wanted.get("name", image["name"]) == image["name"]
        ]
        if "marker" in wanted:
            images = []
        return answer(
            start_response,
            "200 OK",
            {"images": images, "first": "/v2/images", "schema": "/v2/schemas/images"},
        )

    def _image(self, method, image, body, start_response):
        if method == "DELETE":
            del self._images[image["id"]]
            return answer(start_response, "204 No Content")
        if method == "PATCH":
            for change in json.loads(body):
                name = change["path"].strip("/")
                if change["op"] == "remove":
                    image.pop(name, None)
                else:
                    image[name] = change["value"]
        return answer(start_response, "200 OK", image)

    def _add(self, properties: dict) -> dict:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        image = {
            "id": str(uuid.uuid4()),
            "name": None,
            "visibility": "private",
            "size": 0,
            "disk_format": "qcow2",
            "container_format": "bare",
            "min_disk": 0,
            "min_ram": 0,
            "protected": False,
            "os_hidden": False,
            "tags": [],
            "checksum": None,
            "virtual_size": None,
            "owner": "admin",
            "created_at": now,
            "updated_at": now,
            "schema": "/v2/schemas/image",
            **properties,
        }
        # A snapshot by the fake driver uploads nothing: every image is whole at once.
        image["status"] = "active"
        image["self"] = f"/v2/images/{image['id']}"
        image["file"] = f"{image['self']}/file"
        self._images[image["id"]] = image
        return image

    @staticmethod
    def _versions(environ) -> dict:
        link = {"rel": "self", "href": f"http://{environ['HTTP_HOST']}/v2/"}
        return {"versions": [{"id": "v2.17", "status": "CURRENT", "links": [link]}]}
