"""The trace-driven simulator: it drives the same policies as the queue manager."""
