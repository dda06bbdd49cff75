"""Show and follow the logs of the processes."""

import collections
import sys
import time

from nova_twotier.tools.fakecloud.errors import FakeCloudError
from nova_twotier.tools.fakecloud.layout import Layout


def show(layout: Layout, service: str | None, lines: int, follow: bool) -> None:
    paths = sorted(layout.logs.glob("*.log"))
    names = [path.stem for path in paths]
    if service is not None:
        paths = [path for path in paths if path.stem == service]
        if not paths:
            known = f"; there are logs of {', '.join(names)}" if names else ""
            raise FakeCloudError(f"no log of {service} in {layout.logs}{known}")
    if not paths:
        raise FakeCloudError(f'no logs in {layout.logs}; run "fakecloud up" first')
    positions = {}
    for path in paths:
        with open(path, errors="replace") as log:
            for line in collections.deque(log, maxlen=max(lines, 0)):
                _print(line, path, len(paths))
            positions[path] = log.tell()
    while follow:
        sys.stdout.flush()
        time.sleep(0.3)
        for path in paths:
            with open(path, errors="replace") as log:
                log.seek(positions[path])
                for line in log:
                    _print(line, path, len(paths))
                positions[path] = log.tell()


def _print(line: str, path, count: int) -> None:
    prefix = f"{path.stem}: " if count > 1 else ""
    print(f"{prefix}{line}", end="" if line.endswith("\n") else "\n")
