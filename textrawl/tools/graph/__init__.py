"""The `graph` toolset: the tools of the reference memory server, and tools that tidy a graph."""
