"""What Prometheus reads: requests and their latencies, jobs and processes by state."""

import os
import re
import time

import falcon
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from nova_twotier.api import questions
from nova_twotier.db.store import Store

PATH = "/metrics"


class Metrics:
    """Falcon middleware that counts, and the resource that tells.

    Labels are routes, never paths: they name no project and no job, and there are few of them.
    """

    def __init__(self, store: Store):
        self._store = store
        self._registry = CollectorRegistry()
        labels = ("method", "route")
        self._requests = Counter(
            "twotier_api_requests",
            "Requests to the API",
            (*labels, "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "twotier_api_request_seconds",
            "Time to answer a request to the API",
            labels,
            registry=self._registry,
        )

    def process_request(self, req, _resp):
        req.context.began = time.perf_counter()

    def process_response(self, req, resp, _resource, _succeeded):
        labels = (
            req.method if req.method in falcon.HTTP_METHODS else "other",
            re.sub(r":\w+}", "}", req.uri_template or "none"),
        )
        self._requests.labels(*labels, falcon.http_status_to_code(resp.status)).inc()
        self._seconds.labels(*labels).observe(time.perf_counter() - req.context.began)

    def on_get(self, _req, resp):
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            # The counts of all processes of the server are in files; they are added up.
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        resp.data = generate_latest(registry) + generate_latest(_Queue(self._store))
        resp.content_type = CONTENT_TYPE_LATEST


class _Queue:
    """A registry of what the database says at this moment."""

    def __init__(self, store: Store):
        self._store = store

    def collect(self):
        jobs = GaugeMetricFamily("twotier_jobs", "Jobs of all projects", labels=["state"])
        processes = GaugeMetricFamily(
            "twotier_processes", "Processes of the jobs of all projects", labels=["state"]
        )
        for state, (number, size) in questions.by_state(self._store).items():
            jobs.add_metric([state], number)
            processes.add_metric([state], size)
        yield from (jobs, processes)
