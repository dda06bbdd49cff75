"""Parts of benchmarks/manager.py."""
