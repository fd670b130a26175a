"""The tools of the `review` toolset."""

from textrawl.toolsets.review.deciding import decide_proposals
from textrawl.toolsets.review.declaration import review
from textrawl.toolsets.review.listing import list_proposals

__all__ = ["decide_proposals", "list_proposals", "review"]
