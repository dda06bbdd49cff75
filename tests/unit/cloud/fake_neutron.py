"""Neutron as the manager uses it: ports, QoS policies and their rules, with its own errors."""

import json
import re
import uuid
from urllib.parse import parse_qs, urlsplit

import requests_mock

NEUTRON = "http://neutron.test:9696"
PROJECT = "service"


class Refusal(Exception):
    def __init__(self, status, kind, message):
        super().__init__(message)
        self.status, self.kind, self.message = status, kind, message


class FakeNeutron:
    """Answers for requests_mock. Lists come in pages of two.

    :ivar ports: each with its server as `device_id`.
    :ivar policies: by id.
    :ivar asked: method and path of each request, in order.
    :ivar broken: requests that are answered 503 from now on, by their method; None: all of them.
    :ivar dies_at: of the changes from now on, the number of the one after which the manager dies.
    """

    PAGE = 2

    def __init__(self, http, extensions=("qos",)):
        self.ports, self.policies, self.asked = {}, {}, []
        self.extensions = extensions
        self.unsupported = set()
        self.broken = ()
        self.dies_at = 0
        http.register_uri(
            requests_mock.ANY, re.compile(f"^{re.escape(NEUTRON)}/v2.0/"), text=self._answer
        )
        http.get(
            re.compile(f"^{re.escape(NEUTRON)}/?$"),
            json={
                "versions": [
                    {
                        "id": "v2.0",
                        "status": "CURRENT",
                        "links": [{"rel": "self", "href": f"{NEUTRON}/v2.0/"}],
                    }
                ]
            },
        )

    def add_port(self, server, policy=None):
        port = {"id": str(uuid.uuid4()), "device_id": server, "qos_policy_id": policy}
        self.ports[port["id"]] = port
        return port

    def add_policy(self, name, project_id=PROJECT, rules=()):
        policy = {"id": str(uuid.uuid4()), "name": name, "project_id": project_id}
        self.policies[policy["id"]] = {**policy, "rules": list(rules)}
        return policy["id"]

    def rules(self):
        """Kind, direction and kbps of the rules of the only policy."""
        [policy] = self.policies.values()
        return [
            (rule["type"], rule["direction"], rule.get("min_kbps") or rule.get("max_kbps"))
            for rule in policy["rules"]
        ]

    def _answer(self, request, context):
        url = urlsplit(request.url)
        path = url.path.removeprefix("/v2.0")
        self.asked.append((request.method, path))
        try:
            if self.broken is None or request.method in self.broken:
                raise Refusal(503, "ServiceUnavailable", "try later")
            body = request.json() if request.text else None
            context.status_code, answer = self._do(request.method, path, parse_qs(url.query), body)
        except Refusal as refusal:
            context.status_code = refusal.status
            told = {"type": refusal.kind, "message": refusal.message, "detail": ""}
            answer = {"NeutronError": told}
        if request.method != "GET" and context.status_code < 400:
            self.dies_at -= 1
            if self.dies_at == 0:
                raise Killed
        return json.dumps(answer) if answer is not None else ""

    def _do(self, method, path, query, body):
        match method, path.strip("/").split("/"):
            case "GET", ["extensions", alias]:
                if alias not in self.extensions:
                    raise Refusal(404, "ExtensionsNotFound", f"Extensions not found: {alias}")
                return 200, {"extension": {"alias": alias}}
            case "GET", ["ports"]:
                return 200, self._page("ports", self.ports, query)
            case "PUT", ["ports", port]:
                return 200, {"port": self._update(port, body["port"])}
            case "GET", ["qos", "policies"]:
                return 200, self._page("policies", self.policies, query)
            case "POST", ["qos", "policies"]:
                policy = self.policies[self.add_policy(body["policy"]["name"])]
                return 201, {"policy": policy}
            case "DELETE", ["qos", "policies", policy]:
                self._delete(policy)
                return 204, None
            case "POST", ["qos", "policies", policy, kind]:
                kind = kind.removesuffix("_rules")
                return 201, {f"{kind}_rule": self._add_rule(policy, kind, body[f"{kind}_rule"])}
        raise AssertionError((method, path))

    def _page(self, what, items, query):
        marker = query.pop("marker", [None])[0]
        found = [
            item
            for item in items.values()
            if all(item[name] in values for name, values in query.items())
        ]
        found.sort(key=lambda item: item["id"])
        found = [item for item in found if marker is None or item["id"] > marker]
        page, more = found[: self.PAGE], len(found) > self.PAGE
        return {what: page, **({f"{what}_links": [{"rel": "next"}]} if more else {})}

    def _update(self, uuid, changes):
        port = self._known(self.ports, uuid, "Port")
        policy = changes["qos_policy_id"]
        if policy is not None:
            for rule in self._known(self.policies, policy, "QosPolicy")["rules"]:
                if rule["type"] in self.unsupported:
                    text = f"Rule {rule['type']} is not supported by port {uuid}"
                    raise Refusal(409, "QosRuleNotSupported", text)
        port.update(changes)
        return port

    def _delete(self, uuid):
        self._known(self.policies, uuid, "QosPolicy")
        if user := self._users(uuid):
            text = f"QoS Policy {uuid} is used by port {user[0]}."
            raise Refusal(409, "QosPolicyInUse", text)
        del self.policies[uuid]

    def _add_rule(self, policy, kind, rule):
        rules = self._known(self.policies, policy, "QosPolicy")["rules"]
        if kind == "minimum_bandwidth" and self._users(policy):
            text = "Cannot update QoS policies/rules backed by resources tracked in Placement"
            raise Refusal(501, "NotImplementedError", text)
        if any((kind, rule["direction"]) == (old["type"], old["direction"]) for old in rules):
            raise Refusal(409, "QoSRulesConflict", f"Rule {kind} conflicts with a rule")
        rules.append({"id": str(uuid.uuid4()), "type": kind, **rule})
        return rules[-1]

    def _users(self, policy):
        return [port["id"] for port in self.ports.values() if port["qos_policy_id"] == policy]

    @staticmethod
    def _known(items, uuid, what):
        if uuid not in items:
            raise Refusal(404, f"{what}NotFound", f"{what} {uuid} could not be found.")
        return items[uuid]


class Killed(BaseException):
    """The manager died with an answer on its way."""
