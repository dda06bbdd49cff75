"""What a request for many servers costs nova-api and the broker: python -m benchmarks.boot_request

    --sizes 1,16,64           servers of a request     --user-data 0,65535   its size in base64

Prints the size of the one message by which nova-api hands a whole request to nova-conductor, as
oslo.messaging sends it, and the CPU time of nova-api until its answer, which it gives only then.
From these follows how large a gang may be for a broker that takes no larger messages: RabbitMQ's
`max_message_size`. Figures, not tests.

Real: all code of Nova's API, its databases (sqlite in memory). Stubbed: the message goes nowhere.
Each server has the metadata and hints that the queue manager gives it, and is in no server group,
as those of large jobs. With --group they are in one, whose members the message then has once for
each server.
"""

import argparse
import json
import time
import unittest
from unittest import mock

from nova import monkey_patch

# As in nova-api's own entry point, before anything else of Nova.
monkey_patch.patch(backend="threading")

from nova import objects  # noqa: E402

from tests.functional.base import CloudTestCase  # noqa: E402

#: `max_message_size` of RabbitMQ 4 by default, in bytes.
BROKER = 16 * 2**20


class Requests(CloudTestCase):
    HOSTS = 1
    PLUGIN = False
    sizes: tuple[int, ...] = ()
    user_data: tuple[int, ...] = ()
    grouped = False

    def runTest(self):
        print("servers  user data (bytes)  message (bytes)  CPU time of nova-api (s)")
        for length in self.user_data:
            found = {size: self.cost(size, length) for size in self.sizes}
            for size, (message, seconds) in found.items():
                print(f"{size:7,} {length:18,} {message:16,} {seconds:25.2f}")
            (few, first), (many, last) = min(found.items()), max(found.items())
            if many > few:
                each = (last[0] - first[0]) / (many - few)
                print(f"{each:,.0f} bytes a server: {BROKER / each:,.0f} of them make 16 MiB")

    def cost(self, size, length):
        server = self._build_server(image_uuid=self.image, flavor_id=self.flavor, networks="none")
        server |= {"min_count": size, "max_count": size, "metadata": {"twotier_job": "j" * 36}}
        if length:
            server["user_data"] = "QUFB" * (length // 4)
        hints = {"twotier:job": "j" * 36}
        if self.grouped:
            group = {"name": f"{size}", "policy": "soft-affinity"}
            hints["group"] = self.api.post_server_groups(group)["id"]
        body = {"server": server, "os:scheduler_hints": hints}
        sent = []

        def keep(_target, context, _method, **message):
            serializer = objects.base.NovaObjectSerializer()
            serialized = {
                key: serializer.serialize_entity(context, value) for key, value in message.items()
            }
            sent.append(json.dumps(serialized))

        with mock.patch("oslo_messaging.rpc.client._CallContext.cast", keep):
            began = time.process_time()
            self.api.post_server(body)
            seconds = time.process_time() - began
        return len(sent[0]), seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1,16,64")
    parser.add_argument("--user-data", default="0,65535")
    parser.add_argument("--group", action="store_true")
    given = parser.parse_args()
    Requests.sizes = tuple(map(int, given.sizes.split(",")))
    Requests.user_data = tuple(map(int, given.user_data.split(",")))
    Requests.grouped = given.group
    result = unittest.TextTestRunner(verbosity=0).run(Requests())
    if not result.wasSuccessful():
        raise SystemExit(1)


if __name__ == "__main__":
    main()
