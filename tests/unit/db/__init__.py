"""The queue manager's database."""
