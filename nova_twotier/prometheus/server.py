"""HTTP server of a process that exports its own Prometheus metrics."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, disable_created_metrics, start_http_server
from prometheus_client.registry import Collector

from nova_twotier.conf import ConfigError


def serve(collector: Collector, address: str, port: int, section: str) -> Callable[[], None]:
    """Answer `GET /metrics` in a thread until the process ends, or what is returned is called.

    :param section: the group of the configuration that has `metrics_address` and `metrics_port`.
    :raises ConfigError: if the port cannot be had.
    """
    registry = CollectorRegistry()
    registry.register(collector)
    # A series more for each counter and histogram, which no query of ours needs.
    disable_created_metrics()
    try:
        server, thread = start_http_server(port, address, registry)
    except OSError as error:
        raise ConfigError(
            f"[{section}]metrics_address and metrics_port: cannot listen on {address}:{port}: "
            f"{error}; choose another port, or end the process that has it"
        ) from error

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
