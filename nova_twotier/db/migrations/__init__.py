"""Alembic's scripts: how each version of the schema follows from the one before."""
