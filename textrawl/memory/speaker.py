"""The person whom clients call the user: the entity that a caller is, see `textrawl me`."""

from dataclasses import replace

from textrawl.access.principal import Caller
from textrawl.memory.command_results import OwnRow
from textrawl.memory.facts import Edge
from textrawl.memory.store import Store

SPEAKER = frozenset({"user", "the user", "me", "i", "myself"})
"""Names in lower case that models give to the person who speaks."""

_UNKNOWN = "who the user is, nobody has said: textrawl me NAME"


async def find_speaker(name: str, store: Store, caller: Caller) -> tuple[str, str | None]:
    """Return the name of the entity that `name` of SPEAKER means, and a hint if nobody knows it.

    An entity that has this name already stays what it is, without a hint.
    """
    keys = [name.lower()]
    if await store.database.call("known_names", str, keys=keys, **caller.reading):
        return name, None
    own = await store.database.call("own_entities", OwnRow, **caller.reading)
    return (own[0].entity_name, None) if own else (name, _UNKNOWN)


async def name_ends(edge: Edge, store: Store, caller: Caller) -> Edge:
    """Return a relation whose ends have the name of the entity that they mean."""
    names = dict[str, str]()
    for end in (edge.from_entity, edge.to_entity):
        names[end] = end
        if end.casefold() in SPEAKER:
            names[end], _ = await find_speaker(end, store, caller)
    return replace(edge, from_entity=names[edge.from_entity], to_entity=names[edge.to_entity])
