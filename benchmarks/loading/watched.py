"""`twotier-manager`, with a line of JSON for each poll: python watched.py FILE [OPTION ...]"""

import json
import sys
import threading
import time
from collections import Counter
from unittest import mock

from nova_twotier.cloud.sessions import Tally
from nova_twotier.cmd import manager
from nova_twotier.manager.engine import Engine

from .stopwatch import Stopwatch


def main(path: str, arguments: list[str]) -> int:
    stopwatch, poll, add = Stopwatch(), Engine.poll, Tally.add
    #: Requests to OpenStack by thread.
    asked: Counter[int] = Counter()

    def counted(tally: Tally, service: str, code: str) -> None:
        asked[threading.get_ident()] += 1
        add(tally, service, code)

    def watched(engine: Engine) -> bool:
        stopwatch.wall.clear()
        stopwatch.cpu.clear()
        own = threading.get_ident()
        began, before = time.time(), asked[own]
        try:
            return stopwatch.timed(poll, "poll")(engine)
        finally:
            line = {
                "at": began,
                "wall": stopwatch.wall,
                "cpu": stopwatch.cpu,
                "requests": asked[own] - before,
            }
            with open(path, "a") as log:
                log.write(f"{json.dumps(line)}\n")

    with (
        stopwatch.watching(),
        mock.patch.object(Engine, "poll", watched),
        mock.patch.object(Tally, "add", counted),
    ):
        return manager.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
