"""The programs that the plugin calls, on a cloud that is a JSON file.

Run as `fake_cloud.py PROGRAM ARGUMENTS`; the file is named by CLOUD. A command whose words begin
with FAILING fails, as all do when the cloud is down.
"""

import json
import os
import sys

PROGRAMS = ("openstack", "curl", "mysql", "twotier-manage")
HOSTS = [f"fake{number}" for number in range(1, 9)]
EMPTY = {
    "flavors": {},
    "aggregates": {},
    "users": {},
    "databases": {},
    "services": {},
    "endpoints": {},
}


def main(program: str, *words: str) -> int:
    with open(os.environ["CLOUD"]) as file:
        cloud = json.load(file)
    if program == "openstack":
        if words[:2] == ("--os-cloud", "devstack-admin"):
            words = words[2:]
        elif "OS_AUTH_URL" not in os.environ:
            print("openstack: Missing value auth-url required for auth plugin", file=sys.stderr)
            return 1
    call = " ".join((program, *words))
    with open(os.environ["CALLS"], "a") as calls:
        print(call, file=calls)
    failing = os.environ.get("FAILING")
    if cloud.get("down") or (failing and call.startswith(failing)):
        print(f"{program}: no answer", file=sys.stderr)
        return 1
    try:
        answer = RUN[program](cloud, list(words))
    except (LookupError, ValueError) as error:
        print(f"{call}: no {error}", file=sys.stderr)
        return 1
    if answer:
        print(answer)
    with open(os.environ["CLOUD"], "w") as file:
        json.dump(cloud, file)
    return 0


def mysql(cloud: dict, words: list[str]) -> None:
    match words[-1].split():
        case ["CREATE", name]:
            cloud["databases"][name] = "empty"
        case _:
            raise LookupError("such statement")


def twotier_manage(cloud: dict, words: list[str]) -> None:
    option, path, *verb = words
    if option != "--config-file" or verb != ["db", "upgrade"]:
        raise LookupError("such command")
    with open(path) as file:
        [line] = [line for line in file if line.startswith("connection = ")]
    name = line.rpartition("/")[2].partition("?")[0]
    if cloud["databases"][name] != "empty":
        raise LookupError("empty database")
    cloud["databases"][name] = "tables"


def openstack(cloud: dict, words: list[str]) -> str:
    match words:
        case ["aggregate", "list"]:
            return "\n".join(cloud["aggregates"])
        case ["compute", "service", "list", *_]:
            return "\n".join(HOSTS)
        case ["image", "show", "cirros", *_]:
            return "image-uuid"
        case ["user", "create", name, role]:
            cloud["users"][name] = role
        case ["service", "create", name, kind]:
            cloud["services"][kind] = name
            return "service-uuid"
        case ["service", "delete", kind]:
            del cloud["services"][kind]
            cloud["endpoints"].pop(kind, None)
        case ["endpoint", "create", kind, region, url] if kind in cloud["services"]:
            cloud["endpoints"][kind] = {"region": region, "url": url}
            return "endpoint-uuid"
        case ["endpoint", "list", "--service", kind, "-f", "value", "-c", "URL"]:
            return cloud["endpoints"][kind]["url"]
        case ["token", "issue", "-f", "value", "-c", "id"]:
            return "alice:demo"
        case ["aggregate", "show", name, *_]:
            return str(cloud["aggregates"][name]["hosts"])
        case ["aggregate", "add", "host", name, host]:
            if host in cloud["aggregates"][name]["hosts"]:
                raise LookupError("place for it: Conflict (HTTP 409)")
            cloud["aggregates"][name]["hosts"].append(host)
        case ["aggregate", "remove", "host", name, host]:
            cloud["aggregates"][name]["hosts"].remove(host)
        case [noun, verb, *rest] if f"{noun}s" in cloud:
            _any_kind(cloud[f"{noun}s"], verb, rest)
        case _:
            raise LookupError("such command")
    return ""


def _any_kind(known: dict, verb: str, words: list[str]) -> None:
    """Create, show, set or delete a flavor, an aggregate or a user; the name comes last."""
    name = words[-1]
    options = list(zip(words[0:-1:2], words[1:-1:2], strict=True))
    if verb == "create":
        if name in known:
            raise LookupError("room for another one: Conflict (HTTP 409)")
        known[name] = {"hosts": [], "options": dict(options), "properties": {}}
        return
    found = known[name]
    if verb == "delete":
        if isinstance(found, dict) and found["hosts"]:
            raise LookupError("way to delete it: Host aggregate is not empty (HTTP 400)")
        del known[name]
    elif verb == "set":
        found["properties"].update(value.split("=") for _option, value in options)
    elif verb != "show":
        raise LookupError("such verb")


def curl(_cloud: dict, words: list[str]) -> None:
    if not words[-1].endswith("/healthcheck"):
        raise LookupError("such page")


RUN = {
    "curl": curl,
    "openstack": openstack,
    "mysql": mysql,
    "twotier-manage": twotier_manage,
}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
