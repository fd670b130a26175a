"""The `graph` toolset: the tools of the reference memory server, and those that tidy a graph."""
