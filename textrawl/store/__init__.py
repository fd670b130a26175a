"""A memory that is open: its database, its embedding model, and what both need together."""
