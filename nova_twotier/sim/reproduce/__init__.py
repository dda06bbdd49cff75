"""Reproduces the papers' tables and figures: our numbers beside the printed ones."""
