"""Compares Placement, Nova and the manager's database, and mends what does not agree."""
