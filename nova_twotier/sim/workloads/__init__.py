"""Workloads: traces of real machines, and models."""
