"""The route of each SQL function: on which nodes of a distributed memory a call of it runs.

Most routes follow from the names of the arguments: a function with `space` works on one space, and
a function with `spaces` on several. The tables below name the others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from textrawl.errors import ArgumentInvalid


class Route(Enum):
    """The place where a function runs."""

    DIRECTORY = "the coordinator"
    SPACE = "the cell of one space: the given one, the home space, or the only possible one"
    SPACES = "the cells of the given spaces, or of all readable spaces"
    ADMINISTERED = "the cell of the given space, or the cells of all spaces with the scope"
    SEARCHED = "the cells of all spaces with the scope, one after the other, until one answers"
    NAMED = "the cell of the space that is named"
    NAMED_TWICE = "the cell of the space that is named, then the coordinator"
    GRAPH = "the cell of the graph that is named"
    GRAPHS = "the cells of the graphs that are named, or of all graphs"
    SOURCE = "the cells of the graphs, one after the other, until one has the source"
    EVERY = "every cell"
    TURNS = "every cell, one after the other, until enough rows are there"
    ROWS = "the cells of the rows that the arguments name"
    RECALLS = "the cells of the spaces of recalls"
    WATCHES = "every cell, with a cursor of each cell"
    MODELS = "the coordinator, which then changes the tables of vectors"
    FOLLOWED = "the cells of the given space or of all administered ones, with a cursor of each"
    ENDS = "every cell, for a cursor of each"


_EXCEPTIONS: dict[Route, str] = {
    Route.DIRECTORY: """
        authenticate create_analyst default_space drop_analyst embedding_models find_names
        find_space list_analysts list_grants list_tokens nearest_type owns_memory reachable_graphs
        stop_words archive_space bind_login calibrate_embedding_model create_space create_token
        grant_access rename_space report_awaited_model revoke_access revoke_token
        rollback_embedding_model rotate_token switch_awaited_model switch_embedding_model vouch""",
    Route.ADMINISTERED: """
        list_events list_proposals plan_undo prune_documents purge_undone undo_author""",
    Route.SEARCHED: "decide_proposals plan_decision revert_undo",
    Route.NAMED: "change_policy",
    Route.NAMED_TWICE: "change_language change_review change_tier",
    Route.GRAPH: "hasten_embeddings known_sources store_source",
    Route.GRAPHS: "list_graphs measure_graphs recall_chunks",
    Route.SOURCE: "apply_correction forget_source propose_correction read_chunk",
    Route.EVERY: """
        embedding_progress expire_proposals list_spaces pending_embeddings prune_llm_use
        prune_recalls queue_embeddings rebuild_documents refresh_search_statistics
        release_all_embeddings write_state""",
    Route.TURNS: "claim_extraction claim_pending_embeddings sample_facts",
    Route.ROWS: "fill_pending_embeddings release_pending_embeddings",
    Route.RECALLS: "record_recalls",
    Route.WATCHES: "changed_watches",
    Route.MODELS: """
        drop_embedding_model register_embedding_model start_awaited_model start_embedding_model""",
    Route.FOLLOWED: "read_events",
    Route.ENDS: "trail_end",
}
_ROUTES = {name: route for route, names in _EXCEPTIONS.items() for name in names.split()}

# After these calls the workers have to copy the change, so that the next call finds it there.
_CHANGES = """
    archive_space bind_login calibrate_embedding_model change_language change_review change_tier
    create_analyst create_space create_token drop_analyst grant_access rename_space revoke_access
    revoke_token rollback_embedding_model rotate_token switch_awaited_model switch_embedding_model
    vouch"""
SPREAD = frozenset(_CHANGES.split())

_SCOPES: dict[str, str] = {
    "admin": "list_events plan_undo purge_undone read_events revert_undo undo_author",
    "forget": """
        delete_edges delete_entry delete_identity delete_nodes delete_observations
        delete_reflections forget_faded forget_source prune_documents""",
    "review": "decide_proposals plan_decision",
}
_SCOPE_OF = {name: scope for scope, names in _SCOPES.items() for name in names.split()}
# These functions answer callers without the scope `read` too, in every space of the caller.
_ANY_SCOPE = frozenset({"entity_proposals", "list_proposals", "search_proposals"})
# The SQLSTATE that says that the content is not in a cell, but perhaps in another one.
ABSENT = frozenset({"TR016", "TR031", "TR063", "TR066", "TR068"})


@dataclass(frozen=True)
class Signature:
    """The names of a function's arguments, and whether it writes."""

    arguments: frozenset[str]
    writes: bool


def find_route(function: str, arguments: Iterable[str]) -> Route | None:
    """Return the route of a function with these arguments, or None if it has none yet."""
    if (route := _ROUTES.get(function)) is not None:
        return route
    names = set(arguments)
    if "spaces" in names:
        return Route.SPACES
    return Route.SPACE if "space" in names else None


def find_scope(function: str, *, writes: bool) -> str | None:
    """Return the scope that the function needs in a space, or None if any scope is enough."""
    if function in _ANY_SCOPE:
        return None
    return _SCOPE_OF.get(function, "write" if writes else "read")


def refuse_target() -> ArgumentInvalid:
    """Return the error for facts that would go from one cell to another."""
    return ArgumentInvalid(
        "these two spaces are in different cells of the cluster: remember the facts in the other "
        "space, or ask the owner for `textrawl export` and `textrawl import`",
        title="Not possible between these spaces",
    )


def refuse(function: str) -> ArgumentInvalid:
    """Return the error for a function that does not work on a distributed memory (TR095)."""
    return ArgumentInvalid(
        f"{function} does not work on several cells of a distributed memory: name one space",
        title="Not possible on this memory",
    )
