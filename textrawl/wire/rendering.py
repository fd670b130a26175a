"""The renderer and the recall log that settings describe."""

from dataclasses import replace

from textrawl.settings import Settings
from textrawl.wire.recall_log import RecallLog
from textrawl.wire.replies import Renderer
from textrawl.wire.token_counter import choose_counter

_NO_BUDGET = 1_000_000


def build_renderer(settings: Settings) -> Renderer:
    """Return the renderer that `settings` describe."""
    return Renderer(
        format=settings.compact_responses,
        structured=settings.structured_content == "full",
        counter=choose_counter(),
        budget=settings.max_response_tokens,
        graph_budget=settings.max_graph_tokens,
    )


def build_recall_log(settings: Settings) -> RecallLog | None:
    """Return the recall log, or None if `settings` turn it off."""
    if settings.record_recalls == "off" or settings.read_only:
        return None
    verbose = replace(
        build_renderer(settings), format="verbose", budget=_NO_BUDGET, graph_budget=_NO_BUDGET
    )
    return RecallLog(
        settings.record_recalls, count_verbose=lambda reply: verbose.write(reply).tokens
    )
