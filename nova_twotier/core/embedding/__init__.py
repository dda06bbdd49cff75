"""Embedding of virtual clusters: which hosts take a job's VMs, by the bandwidth they ask for."""
