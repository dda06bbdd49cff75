"""The core: jobs, cluster, actions and policies. Pure Python, no I/O; time is an argument."""
