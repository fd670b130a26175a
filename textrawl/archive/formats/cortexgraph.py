"""CortexGraph: two files of JSON Lines, with memories that fade and the links between them.

A memory becomes a fact of its first entity, with its tags, uses and status. Of several lines with
one id, the last one counts.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID, uuid5

from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.formats import ImportFormat, Record, as_list, as_text, read_rows
from textrawl.archive.items import Entity, Fault, ImportedLink, Item, PlainFact
from textrawl.archive.lines import check_line
from textrawl.memory.decay import NO_ENTITY
from textrawl.values.reference_file import LineRefused
from textrawl.values.text import clean_fact, clean_name, clean_tag, count_cleaned

_MEMORIES, _RELATIONS = "memories.jsonl", "relations.jsonl"
_NAMESPACE = UUID("c2f4a9d8-5a0e-4d53-8c55-6f4c1e0b7a21")  # of ids that are made from other ids
_LONGEST = 50_000  # characters of a memory
_LINKS = ("causes", "consolidated_from", "contradicts", "has_decision", "related", "supports")
_TIMES = ("last_used", "promoted_at", "last_review_at")
_OTHERS = ("entities", "strength", "use_count", "status", "promoted_to", "review_count",
           "cross_domain_count")  # fmt: skip


def _find_memories(bundle: Bundle) -> str | None:
    """Return the name of the file of memories, which can be any if it is the only file."""
    return bundle.find(_MEMORIES) or (next(iter(bundle.sizes)) if len(bundle.sizes) == 1 else None)


def _recognises(bundle: Bundle) -> bool:
    """Return whether a first line of the memories is one."""
    name = _find_memories(bundle)
    if name is None or (bundle.path.is_dir() and name != _MEMORIES):
        return False
    marks = {"content", "use_count", "last_used"}
    return any(marks <= one.keys() for one in bundle.read_first(name))


def _read(bundle: Bundle) -> Iterator[Item]:
    """Yield the memories, and the links between them."""
    name = _find_memories(bundle)
    if name is None:
        raise BundleRefused(f"{bundle.path} has no file {_MEMORIES}")
    for number, row in _choose_last(bundle, name):
        try:
            yield from _read_memory(f"line {number}", row)
            bundle.count_cleaned(count_cleaned(row))
        except LineRefused as refused:
            yield Fault(f"line {number}", str(refused))
    links, beside = bundle, bundle.path.with_name(_RELATIONS)
    if not bundle.find(_RELATIONS) and bundle.path.is_file() and beside.is_file():
        links = Bundle(beside)  # the file of memories is named alone
    if found := links.find(_RELATIONS):
        for number, row in _choose_last(links, found):
            try:
                yield _read_link(f"line {number}", row)
            except LineRefused as refused:
                yield Fault(f"line {number}", f"of {_RELATIONS}: {refused}")


def _choose_last(bundle: Bundle, name: str) -> Iterator[tuple[int, Record | Fault]]:
    """Yield the last row of each id, unless it was deleted, and the faults of lines."""
    last = dict[str, int]()
    for number, row in read_rows(bundle, name):
        key = row.text("id") if isinstance(row, Record) else ""
        key = key or f"\n{number}"  # its fault is told
        last.pop(key, None)
        if isinstance(row, Fault) or not row.get("_deleted"):
            last[key] = number
    numbers = set(last.values())
    yield from (one for one in read_rows(bundle, name) if one[0] in numbers)


def _read_memory(place: str, row: Record | Fault) -> Iterator[Item]:
    """Yield a memory with its entity. Raises LineRefused."""
    if isinstance(row, Fault):
        raise LineRefused(row.reason)
    key, meta, text = _read_id(row), row.part("meta"), clean_fact(row.text("content"))
    if not 0 < len(text) <= _LONGEST:
        raise LineRefused(f"content must have 1 to {_LONGEST:,} characters")
    at = _read_epoch(row, "created_at")
    use = {key: row[key] for key in _OTHERS if row.get(key) is not None}
    use |= {key: _read_epoch(row, key).isoformat() for key in _TIMES if row.get(key) is not None}
    use |= {key: meta[key] for key in ("source", "context", "extra") if meta.get(key) is not None}
    tags, ended = list[str](), None
    for tag in as_list(meta.get("tags")):
        try:
            tags.append(clean_tag(clean_name(as_text(tag))))
        except ValueError as error:
            yield Fault(place, str(error))
    if use.get("status") == "removed":
        raise LineRefused("status must be active, promoted or archived")
    if use.get("status") == "archived":
        ended = datetime.now(UTC)  # searches do not find it any more
        use["ended_at"] = ended.isoformat()
    defaults = {"strength": 1.0, "use_count": 0, "status": "active", "saved": True}
    use = check_line("memory", defaults | use | {"tags": sorted({*tags})})
    about = [*use["entities"], NO_ENTITY][0]
    yield Entity(place, about, at=at)
    yield PlainFact(place, about, text, at, valid_until=ended, key=key, use=use)


def _read_link(place: str, row: Record | Fault) -> ImportedLink:
    """Return a link. Raises LineRefused."""
    if isinstance(row, Fault):
        raise LineRefused(row.reason)
    if row.get("relation_type") not in _LINKS:
        raise LineRefused(f"relation_type must be one of {', '.join(_LINKS)}")
    fields = {
        "from_memory": _read_id(row, "from_memory_id"),
        "to_memory": _read_id(row, "to_memory_id"),
        "relation": row.get("relation_type"),
        "strength": row.get("strength", 1.0),
        "metadata": row.get("metadata", {}),
        "created_at": _read_epoch(row, "created_at").isoformat(),
    }
    return ImportedLink(place, check_line("link", fields) | {"id": _read_id(row)})


def _read_id(row: Record, name: str = "id") -> str:
    """Return an id if it is a UUID, else a UUID that is made from it. Raises LineRefused."""
    own = clean_name(row.text(name))
    if not own:
        raise LineRefused(f"{name} is missing")
    try:
        return str(UUID(own))
    except ValueError:
        return str(uuid5(_NAMESPACE, own))


def _read_epoch(row: Record, name: str) -> datetime:
    value = row.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise LineRefused(f"{name} must be seconds since 1970")
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError, ValueError):
        raise LineRefused(f"{name} is no time") from None


FORMAT = ImportFormat("cortexgraph", "CortexGraph", _recognises, _read, listed=False)
