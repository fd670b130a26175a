"""The `stats` toolset: the sizes of the memory and of its graphs."""
