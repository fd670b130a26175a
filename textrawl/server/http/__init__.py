"""Streamable HTTP: the application, its guards, and the server that runs it."""
