"""Metrics for Prometheus: requests and their latencies, jobs by state, class and reason."""

import os
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

from nova_twotier.api import queries
from nova_twotier.api.site import Site
from nova_twotier.prometheus import queue

PATH = "/metrics"


class Metrics:
    """Falcon middleware that counts requests, and the resource that shows the metrics.

    Labels are routes, not paths: there are few of them, and they contain no project and no job.
    """

    def __init__(self, site: Site):
        self._site = site
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
            req.uri_template or "none",
        )
        self._requests.labels(*labels, falcon.http_status_to_code(resp.status)).inc()
        self._seconds.labels(*labels).observe(time.perf_counter() - req.context.began)

    def on_get(self, _req, resp):
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            # All processes of the server count in files; the collector adds them up.
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        resp.data = generate_latest(registry) + generate_latest(_Queue(self._site))
        resp.content_type = CONTENT_TYPE_LATEST


class _Queue:
    """A collector of the present numbers in the database."""

    def __init__(self, site: Site):
        self._store, self._site = site.store, site

    def collect(self):
        pools = self._site.conf.manager.pools
        yield from queue.jobs(queries.by_pool_and_state(self._store, pools))
        by_qos = GaugeMetricFamily(
            "twotier_jobs_by_qos",
            "Jobs of all projects that are not over, by class of service; phase: waiting, or "
            "running, which is from the start to the end",
            labels=["pool", "phase", "qos"],
        )
        for labels, number in queries.by_pool_and_class(self._store, pools).items():
            by_qos.add_metric(labels, number)
        yield by_qos
        yield from queue.waiting(queries.waiting_by_reason(self._store))
        heartbeat = GaugeMetricFamily(
            "twotier_manager_heartbeat_timestamp_seconds",
            "Last heartbeat of the queue manager, in seconds since the epoch; 0: none yet",
            labels=["pool"],
        )
        beats = self._site.heartbeats(pools)
        for pool, last in beats.items():
            heartbeat.add_metric([pool], last.at or 0)
        yield heartbeat
        yield from queue.polled({pool: last.polled_at or 0 for pool, last in beats.items()})
