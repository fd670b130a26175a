"""The `entities` toolset: one entity under several names."""
