"""Suggestions for a name that no entity has."""

from textrawl.access.principal import Caller
from textrawl.toolsets.memory.operations import MemoryOperations

_LEAST_LIKENESS = 75  # per cent (rapidfuzz WRatio)
_MOST_NAMES = 3


async def suggest_names(memory: MemoryOperations, name: str, caller: Caller) -> list[str]:
    """Return up to three names of entities that are similar to `name`, the most similar first."""
    from rapidfuzz import process, utils  # noqa: PLC0415 - rarely needed

    candidates = await memory.find_similar_names(name, caller)
    similar = process.extract(
        name,
        candidates,
        processor=utils.default_process,
        limit=_MOST_NAMES,
        score_cutoff=_LEAST_LIKENESS,
    )
    return [similar_name for similar_name, *_ in similar]
