"""A stand-in for Keystone: the users and projects that tokens have named."""

from urllib.parse import parse_qs

from nova_twotier.api.auth import Identity, identity_of
from nova_twotier.tools.fakecloud.identities import Identities
from nova_twotier.tools.fakecloud.stubs import answer

_DOMAIN = "default"
#: The collections of Keystone that are not empty, and what is the same for all that is in each.
_DETAILS: dict[str, dict] = {
    "domains": {},
    "users": {"domain_id": _DOMAIN},
    "projects": {"domain_id": _DOMAIN, "parent_id": _DOMAIN, "is_domain": False},
}


class Keystone:
    """The part of the identity API that finds users and projects by name.

    They are those that tokens have named, and an id is the same as the name. As with Keystone,
    administrators see all of them, others only themselves and the project of their token.
    Everything else is empty: enough for `openstack server list`, which looks for the API first.
    """

    def __init__(self, identities: Identities):
        self._identities = identities

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"].strip("/")
        if path in ("", "v3"):
            link = {"rel": "self", "href": f"http://{environ['HTTP_HOST']}/v3/"}
            version = {"id": "v3.14", "status": "stable", "links": [link], "media-types": []}
            body = {"version": version} if path else {"versions": {"values": [version]}}
            return answer(start_response, "200 OK", body)
        kind, *ids = path.split("/")[1:] or [""]
        if environ["REQUEST_METHOD"] != "GET" or not kind or len(ids) > 1:
            return self._refuse(start_response, "404 Not Found", path)
        if kind in _DETAILS:
            return self._entities(environ, start_response, kind, *ids)
        if ids:
            return self._refuse(start_response, "404 Not Found", path)
        return answer(start_response, "200 OK", {kind: [], "links": {}})

    def _entities(self, environ, start_response, kind: str, wanted: str | None = None):
        token = environ.get("HTTP_X_AUTH_TOKEN", "")
        caller = identity_of(token)
        if caller is None:
            return self._refuse(start_response, "401 Unauthorized", "send user:project as token")
        self._identities.add(token)
        one = kind.removesuffix("s")
        if "admin" not in caller.roles and wanted != _own(caller)[kind]:
            rule = f"identity:list_{kind}" if wanted is None else f"identity:get_{one}"
            return self._refuse(start_response, "403 Forbidden", f"you may not: {rule}")
        found = self._all(kind)
        if wanted is None:
            asked = parse_qs(environ.get("QUERY_STRING", ""))
            for key in asked.keys() & {"name", "domain_id"}:
                found = [entity for entity in found if entity.get(key) in asked[key]]
            return answer(start_response, "200 OK", {kind: found, "links": {}})
        for entity in found:
            if entity["id"] == wanted:
                return answer(start_response, "200 OK", {one: entity})
        return self._refuse(start_response, "404 Not Found", f"there is no {one} {wanted}")

    def _all(self, kind: str) -> list[dict]:
        if kind == "domains":
            names = {_DOMAIN: "Default"}
        else:
            known = self._identities.users() if kind == "users" else self._identities.projects()
            names = {name: name for name in known}
        return [
            {"id": entity, "name": name, "enabled": True, **_DETAILS[kind]}
            for entity, name in names.items()
        ]

    @staticmethod
    def _refuse(start_response, status: str, message: str):
        code, title = status.split(" ", 1)
        error = {"code": int(code), "title": title, "message": message}
        return answer(start_response, status, {"error": error})


def _own(caller: Identity) -> dict[str, str]:
    """The ids that somebody may look up who is no administrator."""
    return {"domains": _DOMAIN, "users": caller.user, "projects": caller.project}
