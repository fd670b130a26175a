"""The `decay` toolset: memory that fades, is reviewed, and is promoted to notes."""
