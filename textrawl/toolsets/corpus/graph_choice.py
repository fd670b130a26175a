"""The choice of the graph that a text is stored in. It never creates a graph and never guesses."""

from collections.abc import Sequence

from textrawl.errors import ArgumentInvalid, ScopeMissing, TextrawlError
from textrawl.toolsets.corpus.rows import ReachableGraphRow
from textrawl.values.graph_name import find_equal, rank

_SHOWN = 40  # names of graphs that an error lists
_COMMAND = "textrawl space create documents --tier personal"
_ASK = "Ask the user which one, or whether to create one; do not retry before. Nothing was stored"


def choose_graph(
    graphs: Sequence[ReachableGraphRow], slug: str | None, name: str | None
) -> ReachableGraphRow:
    """Return the graph that a caller names by its slug, or by a name with equal letters and digits.

    Without both, return the only writable graph, or else the home space. Raises ArgumentInvalid
    with the names that the caller can mean, and ScopeMissing for a graph that is only readable.
    """
    if slug is None and name is None:
        return _choose_default(graphs)
    known = [graph.name for graph in graphs]
    chosen = [known.index(slug)] if slug is not None and slug in known else []
    if slug is None and name is not None:
        chosen = [known.index(equal) for equal in find_equal(name, known)]
    if len(chosen) != 1:
        raise _refuse(graphs, slug or name or "")
    graph = graphs[chosen[0]]
    if slug is not None and name is not None and find_equal(name, known) != [slug]:
        fix = "give only graphId or only target_engram; nothing was stored"
        raise ArgumentInvalid(fix, title="Two different graphs")
    if not graph.writable:
        raise ScopeMissing("write", f"this token can only read {graph.name}")
    return graph


def _choose_default(graphs: Sequence[ReachableGraphRow]) -> ReachableGraphRow:
    writable = [graph for graph in graphs if graph.writable]
    chosen = writable if len(writable) == 1 else [graph for graph in writable if graph.home]
    if len(chosen) == 1:
        return chosen[0]
    if writable:
        fix = f"give target_engram, one of: {_list(writable)}; nothing was stored"
        raise ArgumentInvalid(fix, title="Missing target_engram")
    raise _report_none(graphs)


def _refuse(graphs: Sequence[ReachableGraphRow], given: str) -> TextrawlError:
    writable = [graph for graph in graphs if graph.writable]
    if not writable:
        return _report_none(graphs)
    shown = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}…"
    close = rank(given, [graph.name for graph in writable])
    names = ", ".join(f"{candidate.name} ({candidate.reason})" for candidate in close)
    found = f"Close matches: {names}" if close else f"The graphs are: {_list(writable)}"
    return ArgumentInvalid(f"{found}. {_ASK}", title=f"No graph {shown!r}")


def _report_none(graphs: Sequence[ReachableGraphRow]) -> TextrawlError:
    if graphs:
        return ScopeMissing("write", "this token can only read graphs")
    return ArgumentInvalid(
        f"a person creates one with `{_COMMAND}`; ask the user, and do not retry before",
        title="There is no graph yet",
    )


def _list(graphs: Sequence[ReachableGraphRow]) -> str:
    names = ", ".join(graph.name for graph in graphs[:_SHOWN])
    more = len(graphs) - _SHOWN
    return f"{names} and {more} more, which stats lists" if more > 0 else names
