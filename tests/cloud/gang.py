"""Servers that are booted together, as the queue manager boots those of a job."""

from tests.cloud.waiting import wait_for

TASK = "OS-EXT-STS:task_state"
HOST = "OS-EXT-SRV-ATTR:host"


class Gang:
    """Some servers booted by one request, and what is awaited of them; its `with` deletes them."""

    def __init__(self, cloud, size, name="gang", flavor="plain"):
        self.nova = cloud.nova()
        self.group = self.nova.server_groups.create(name, "soft-anti-affinity")
        found = next(found for found in self.nova.flavors.list() if found.name == flavor)
        self.nova.servers.create(
            name,
            cloud.info()["image"],
            found,
            nics="none",
            min_count=size,
            max_count=size,
            scheduler_hints={"group": self.group.id, "twotier:job": self.group.id},
        )
        self.size = size
        self.ids = {
            server.id
            for server in wait_for(
                lambda: [s for s in self.all() if s.name.startswith(name)], "the servers"
            )
        }

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        for server in self.servers():
            server.delete()
        self.await_gone()
        self.nova.server_groups.delete(self.group.id)

    def all(self):
        return self.nova.servers.list(search_opts={"all_tenants": True})

    def servers(self):
        return sorted((s for s in self.all() if s.id in self.ids), key=lambda server: server.name)

    def first(self):
        return self.servers()[0]

    def await_status(self, status):
        def reached():
            servers = self.servers()
            assert not [s.fault for s in servers if s.status == "ERROR"]
            return len(servers) == self.size and all(
                s.status == status and getattr(s, TASK) is None for s in servers
            )

        wait_for(reached, status)
        return self.servers()

    def await_move(self, server_id, moved):
        def reached():
            server = self.nova.servers.get(server_id)
            assert server.status != "ERROR"
            return getattr(server, TASK) is None and moved(getattr(server, HOST))

        wait_for(reached, "the migration")

    def await_gone(self):
        wait_for(lambda: not self.servers(), "deletion")
