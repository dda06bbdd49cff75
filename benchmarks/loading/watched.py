"""`twotier-manager`, with a line of JSON for each poll: python watched.py FILE [OPTION ...]"""

import json
import sys
import time
from unittest import mock

from nova_twotier.cmd import manager
from nova_twotier.manager.engine import Engine

from .stopwatch import Stopwatch


def main(path: str, arguments: list[str]) -> int:
    stopwatch, poll = Stopwatch(), Engine.poll

    def watched(engine: Engine) -> bool:
        stopwatch.wall.clear()
        stopwatch.cpu.clear()
        began = time.time()
        try:
            return stopwatch.timed(poll, "poll")(engine)
        finally:
            line = json.dumps({"at": began, "wall": stopwatch.wall, "cpu": stopwatch.cpu})
            with open(path, "a") as log:
                log.write(f"{line}\n")

    with stopwatch.watching(), mock.patch.object(Engine, "poll", watched):
        return manager.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
