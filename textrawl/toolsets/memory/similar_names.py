"""Names that a caller may have meant."""

from textrawl.access.principal import Caller
from textrawl.toolsets.memory.operations import MemoryOperations

_CLOSE = 75  # per cent of likeness (rapidfuzz WRatio) from which a name is worth naming
_MOST_CLOSE = 3


async def suggest_names(memory: MemoryOperations, name: str, caller: Caller) -> list[str]:
    """Return up to three names of entities that are close to `name`, the closest first."""
    from rapidfuzz import process, utils  # noqa: PLC0415 - most callers know their names

    known = await memory.find_similar_names(name, caller)
    close = process.extract(
        name, known, processor=utils.default_process, limit=_MOST_CLOSE, score_cutoff=_CLOSE
    )
    return [found for found, *_ in close]
