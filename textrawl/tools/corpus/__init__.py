"""The `corpus` toolset: documents in graphs, searched in chunks under limits of tokens."""
