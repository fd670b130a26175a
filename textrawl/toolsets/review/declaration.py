"""The toolset `review`."""

from textrawl.toolsets.toolset import Toolset

review = Toolset(
    "review",
    "See proposals, and accept or reject them.",
    ("list_proposals", "decide_proposals"),
)
