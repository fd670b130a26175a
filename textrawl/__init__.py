"""textrawl: shared memory for AI agents, kept in Postgres."""
