"""The `journal` toolset: what happened when, from days to years."""
