"""What benchmarks/scheduler.py runs on: a cloud in memory, Placement's answers, variants."""
