"""Postgres: every connection, statement and migration of the package."""
