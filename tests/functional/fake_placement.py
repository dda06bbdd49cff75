"""Placement in memory: what the ledger uses of it, for long runs of the queue manager."""

import re

from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Conflict, NotFound, StaleGeneration


class Provider:
    def __init__(self, name, parent=None):
        self.name, self.parent = name, parent
        self.generation = 0
        self.inventories, self.traits = {}, set()

    def write(self, generation):
        if generation != self.generation:
            raise StaleGeneration("409: the provider has changed", 409)
        self.generation += 1
        return {"resource_provider_generation": self.generation}


class FakePlacement:
    """The interface of `ledger.placement.Placement`; what it does not know is an error."""

    def __init__(self):
        self.providers = {}
        #: By consumer: what `GET /allocations` answers of it.
        self.consumers = {}

    def get(self, url):
        path, _, query = url.partition("?")
        match path.strip("/").split("/"):
            case ["resource_providers"]:
                return self._listed(query)
            case ["resource_providers", uuid, *rest]:
                if uuid not in self.providers:
                    raise NotFound(f"404: {url}", 404)
                return self._about(uuid, *rest)
            case ["allocations", consumer]:
                return self.consumers.get(consumer, {"allocations": {}})
            case ["allocation_candidates"]:
                return self._free_links() if names.LINK_TRAIT in query else self._candidates()
        raise AssertionError(url)

    def put(self, url, body=None):
        match url.strip("/").split("/"):
            case ["traits" | "resource_classes", _name]:
                return {}
            case ["resource_providers", uuid, "traits"]:
                provider = self.providers[uuid]
                answer = provider.write(body["resource_provider_generation"])
                provider.traits = set(body["traits"])
                return answer
            case ["resource_providers", uuid, "inventories", *one]:
                provider = self.providers[uuid]
                answer = provider.write(body["resource_provider_generation"])
                written = {one[0]: body} if one else body["inventories"]
                if not one:
                    provider.inventories.clear()
                for resource_class, inventory in written.items():
                    kept = {k: v for k, v in inventory.items() if not k.endswith("_generation")}
                    provider.inventories[resource_class] = {
                        "reserved": 0,
                        "allocation_ratio": 1.0,
                        **kept,
                    }
                return answer
        raise AssertionError(url)

    def post(self, url, body):
        match url:
            case "/resource_providers":
                parent = body.get("parent_provider_uuid")
                self.providers[body["uuid"]] = Provider(body["name"], parent)
            case "/allocations":
                self._allocate(body)
            case _:
                raise AssertionError(url)
        return {}

    def _listed(self, query):
        required = re.search(r"required=([^&]+)", query)
        traits = set(required[1].split(",")) if required else set()
        return {
            "resource_providers": [
                {
                    "uuid": uuid,
                    "name": provider.name,
                    "parent_provider_uuid": provider.parent,
                    "generation": provider.generation,
                }
                for uuid, provider in self.providers.items()
                if traits <= provider.traits
            ]
        }

    def _about(self, uuid, what=None):
        provider = self.providers[uuid]
        answer = {"resource_provider_generation": provider.generation}
        match what:
            case None:
                answer = {"uuid": uuid, "name": provider.name, "generation": provider.generation}
            case "inventories":
                answer["inventories"] = {k: dict(v) for k, v in provider.inventories.items()}
            case "traits":
                answer["traits"] = sorted(provider.traits)
            case "usages":
                answer["usages"] = {name: self._used(uuid, name) for name in provider.inventories}
            case "allocations":
                answer["allocations"] = {
                    consumer: held["allocations"][uuid]
                    for consumer, held in self.consumers.items()
                    if uuid in held["allocations"]
                }
            case _:
                raise AssertionError(what)
        return answer

    def _candidates(self):
        """Of one slot, in any tier."""
        free = {
            provider.parent
            for uuid, provider in self.providers.items()
            if names.SLOT in provider.inventories
            and self._used(uuid, names.SLOT) < self._capacity(uuid, names.SLOT)
        }
        return {
            "provider_summaries": {
                uuid: {
                    "resources": {
                        name: {
                            "capacity": self._capacity(uuid, name),
                            "used": self._used(uuid, name),
                        }
                        for name in provider.inventories
                    },
                    "traits": sorted(provider.traits),
                    "parent_provider_uuid": provider.parent,
                    "root_provider_uuid": provider.parent or uuid,
                }
                for uuid, provider in self.providers.items()
                if (provider.parent or uuid) in free
            }
        }

    def _free_links(self):
        """Those with a Mbit/s to give."""
        return {
            "provider_summaries": {
                uuid: {"resources": {names.MBPS: {"capacity": capacity, "used": used}}}
                for uuid, provider in self.providers.items()
                if names.MBPS in provider.inventories
                and (capacity := self._capacity(uuid, names.MBPS))
                > (used := self._used(uuid, names.MBPS))
            }
        }

    def _used(self, uuid, name):
        held = (held["allocations"].get(uuid) for held in self.consumers.values())
        return sum(one["resources"].get(name, 0) for one in held if one)

    def _capacity(self, uuid, name):
        inventory = self.providers[uuid].inventories[name]
        return inventory["total"] - inventory["reserved"]

    def _allocate(self, body):
        before = dict(self.consumers)
        for consumer, new in body.items():
            known = before.get(consumer, {}).get("consumer_generation")
            if new["consumer_generation"] != known:
                raise StaleGeneration("409: the consumer has changed", 409)
        for consumer, new in body.items():
            self.consumers.pop(consumer, None)
            if new["allocations"]:
                self.consumers[consumer] = {
                    **new,
                    "consumer_generation": (new["consumer_generation"] or 0) + 1,
                }
        if full := self._overfull(body, before):
            self.consumers = before
            raise Conflict(f"409: no room on {full}", 409)
        for consumer, new in body.items():
            old = before.get(consumer, {"allocations": {}})
            for uuid in {*new["allocations"], *old["allocations"]}:
                self.providers[uuid].generation += 1

    def _overfull(self, body, before):
        """The first provider that has more to give than it has; what was held may stay."""
        for consumer, new in body.items():
            old = before.get(consumer, {"allocations": {}})["allocations"]
            for uuid, allocation in new["allocations"].items():
                for name, amount in allocation["resources"].items():
                    grown = amount > old.get(uuid, {"resources": {}})["resources"].get(name, 0)
                    if grown and self._used(uuid, name) > self._capacity(uuid, name):
                        return uuid
        return None
