"""The toolset `entities`."""

from textrawl.toolsets.toolset import Toolset

entities = Toolset(
    "entities",
    "Give entities aliases, and merge two entities that are one.",
    ("find_same_entities", "merge_entities", "split_entity", "name_entity"),
)
