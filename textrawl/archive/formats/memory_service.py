"""The JSON export of mcp-memory-service: a list of memories with tags and a type."""

from collections.abc import Iterator

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import ImportFormat, as_list, as_object, as_text, read_time
from textrawl.archive.items import Entity, Fault, ImportedFact, Item

_ABOUT = "mcp-memory-service"


def recognises(bundle: Bundle) -> bool:
    """Return whether the file is an export of mcp-memory-service."""
    heads = (bundle.read_head(name) for name in list(bundle.sizes)[:1])
    return any(b'"export_metadata"' in head or b'"content_hash"' in head for head in heads)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the memories. Their entity is the first tag that names a project or a person."""
    seen = set[str]()
    for name in bundle.sizes:
        for number, value in enumerate(bundle.read_array(name, "memories.item"), 1):
            row = as_object(value)
            text, tags = (
                as_text(row.get("content")),
                [as_text(tag) for tag in as_list(row.get("tags"))],
            )
            key = as_text(row.get("content_hash"))
            if not text.strip() or not key:
                yield Fault(f"{name}, memory {number}", "it has no hash or no content")
                continue
            about = next(
                (
                    tag.partition(":")[2]
                    for tag in tags
                    if tag.startswith(("proj:", "project:", "person:"))
                ),
                "",
            )
            about = about.strip() or _ABOUT
            if about not in seen:
                seen.add(about)
                yield Entity(f"entity {about}", about, None)
            at = read_time(row.get("created_at")) or read_time(row.get("created_at_iso"))
            kind = as_text(row.get("memory_type"))
            yield ImportedFact(
                key, about, text, at, said_at=at, tags=[*([kind] if kind else []), *tags]
            )


FORMAT = ImportFormat("mcp-memory-service", "mcp-memory-service", recognises, read)
