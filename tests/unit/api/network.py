"""A small network: what Placement and Nova say of it, without either."""

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import NotFound
from nova_twotier.ledger.shape import Shape, capacities

FG, BG = Tier.FG, Tier.BG


class Network:
    """Hosts and links as the ledger would have them; in the place of `Site.placement`.

    :param shapes: of the hosts; each of them is in the ledger.
    :ivar used: Mbit/s that jobs hold, by link.
    :ivar held: places in use, by host and tier.
    :ivar down: names of the hosts that take no new servers.
    """

    def __init__(self, shapes):
        self.by_name = dict(shapes)
        self.rates, _problems = capacities(shapes)
        self.used, self.held, self.down = {}, {}, set()

    @classmethod
    def of_pods(cls):
        """Two pods of two edge switches with two hosts each; 1, 2 and 4 Gbit/s."""
        return cls(
            {
                f"host{pod}{edge}{host}": Shape(
                    4, 2, f"core/pod{pod}/edge{edge}", (1000, 2000, 4000)
                )
                for pod in (1, 2)
                for edge in (1, 2)
                for host in (1, 2)
            }
        )

    def shapes(self):
        """In the place of `Site.aggregates`: what the aggregates say."""
        return self.by_name

    def available(self):
        """In the place of `Site.aggregates`: all hosts take new servers but those that are down."""
        return self.by_name, self.by_name.keys() - self.down

    def get(self, url):
        path, _, query = url.partition("?")
        match path.strip("/").split("/"):
            case ["resource_providers"]:
                return {"resource_providers": self._listed(links=names.LINK_TRAIT in query)}
            case ["allocation_candidates"]:
                found = self._links() if names.MBPS in query else self._tiers()
                return {"provider_summaries": found}
            case ["resource_providers", uuid, what]:
                return self._about(uuid, what)
        raise AssertionError(url)

    def _listed(self, links):
        hosts = [] if links else list(self.by_name)
        found = [(names.link_uuid(link), names.link_name(link), None) for link in self.rates]
        for host in hosts:
            found.append((host, host, None))
            found += [(names.child_uuid(host, t), names.child_name(host, t), host) for t in Tier]
        return [
            {"uuid": uuid, "name": name, "parent_provider_uuid": parent}
            for uuid, name, parent in found
        ]

    def _links(self):
        """Placement shows only those that have something left."""
        return {
            names.link_uuid(link): {
                "resources": {names.MBPS: {"capacity": rate, "used": self.used.get(link, 0)}}
            }
            for link, rate in self.rates.items()
            if self.used.get(link, 0) < rate
        }

    def _tiers(self):
        return {
            names.child_uuid(host, tier): {
                "resources": {
                    names.SLOT: {
                        "capacity": shape.places(tier),
                        "used": self.held.get((host, tier), 0),
                    },
                    names.CPU: {"capacity": 100 * shape.places(tier), "used": 0},
                },
                "traits": [names.TRAIT[tier]],
                "root_provider_uuid": host,
            }
            for host, shape in self.by_name.items()
            for tier in Tier
        }

    def _about(self, uuid, what):
        for link, rate in self.rates.items():
            if names.link_uuid(link) == uuid:
                if what == "usages":
                    return {"usages": {names.MBPS: self.used.get(link, 0)}}
                return {"inventories": {names.MBPS: {"total": rate, "reserved": 0}}}
        raise NotFound(f"404: {uuid}", 404)
