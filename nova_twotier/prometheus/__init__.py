"""What the API, the manager and the node agent share to export Prometheus metrics."""
