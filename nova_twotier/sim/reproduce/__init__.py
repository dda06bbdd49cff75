"""Reproduces the papers' tables and figures, and our own study: our numbers beside the printed."""
