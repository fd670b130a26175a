"""Postgres: all connections, statements and migrations of the package."""
