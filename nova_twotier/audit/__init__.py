"""Compares Placement, Nova and the manager's database, and repairs disagreements."""
