"""Reads metrics as Prometheus does, and runs Prometheus itself."""

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from tests.ports import free_port

PROGRAMS = ("prometheus", "promtool")
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
#: Seconds that a program may take on a slow machine.
PATIENCE = 180
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: twotier-manager
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def read(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310
        return answer.read().decode()


def families(port):
    """The metrics that are shown on a port, by the names of their families."""
    text = read(f"http://127.0.0.1:{port}/metrics")
    return {family.name: family for family in text_string_to_metric_families(text)}


def samples(port):
    """The values that are shown on a port, by name and values of the labels, that of `pool` first.

    Prometheus is shown labels in the order of their names.
    """
    return {
        (sample.name, *_pool_first(sample.labels)): sample.value
        for family in families(port).values()
        for sample in family.samples
    }


def _pool_first(labels):
    return [labels[name] for name in sorted(labels, key=lambda name: (name != "pool", name))]


class Prometheus:
    """A Prometheus on this machine that scrapes a port.

    :param case: the test case, at whose end it is gone.
    """

    def __init__(self, case, directory, port):
        self._port = free_port()
        config = directory / "prometheus.yml"
        config.write_text(CONFIG.format(port=port))
        argv = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={directory}/data",
            f"--web.listen-address=127.0.0.1:{self._port}",
        ]
        self._log = directory / "prometheus.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(argv, stdout=log, stderr=log)
        case.addCleanup(self._end)

    def _end(self):
        self._process.terminate()
        self._process.wait(PATIENCE)

    def query(self, expression):
        """The vector that an expression gives now.

        :raises urllib.error.HTTPError: if Prometheus does not understand it.
        """
        query = urllib.parse.urlencode({"query": expression})
        answer = json.loads(read(f"http://127.0.0.1:{self._port}/api/v1/query?{query}"))
        return answer["data"]["result"]

    def until(self, expression):
        """Wait until an expression gives something."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if self.query(expression):
                    return
            except urllib.error.URLError:
                if self._process.poll() is not None:
                    break
            time.sleep(0.2)
        raise AssertionError(f"no answer to {expression!r}; log:\n{self._log.read_text()}")
