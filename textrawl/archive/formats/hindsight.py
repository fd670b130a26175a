"""Archives of Hindsight: documents with their facts, and observations with their proofs."""

from collections.abc import Iterator, Mapping
from typing import Any

from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.formats import ImportFormat, as_list, as_object, as_text, read_time
from textrawl.archive.items import Entity, Fault, ImportedFact, ImportedNote, Item


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are an archive of Hindsight."""
    name = bundle.find("manifest.json")
    return name is not None and b'"source_bank_id"' in bundle.read_head(name)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the documents, the facts and the observations."""
    name = bundle.find("manifest.json")
    if name is None:
        raise BundleRefused(f"{bundle.path} has no manifest.json of Hindsight")
    manifest = as_object(bundle.read_json(name))
    bank = as_text(manifest.get("source_bank_id")) or "Hindsight"
    yield Entity("bank", bank, "concept")
    texts, seen = dict[tuple[str, int], str](), {bank}
    names = [one for one in bundle.sizes if "documents/" in one and one.endswith(".json")]
    for name in sorted(names):
        document = as_object(bundle.read_json(name))
        key, at = as_text(document.get("id")), read_time(document.get("created_at"))
        if not key:
            yield Fault(name, "it has no id")
            continue
        if text := as_text(document.get("original_text")).strip():
            yield ImportedNote(key, key, text, at)
        rows = [as_object(one) for one in as_list(document.get("facts"))]
        texts |= {(key, number): as_text(row.get("text")) for number, row in enumerate(rows)}
        for item in _read_facts(name, key, bank, rows):
            if not isinstance(item, Entity) or item.name not in seen:
                yield item
            seen |= {item.name} if isinstance(item, Entity) else set()
    if name := bundle.find("observations.json"):
        yield from _read_observations(bundle.read_json(name), bank, texts)


def _read_facts(name: str, key: str, bank: str, rows: list[dict[str, Any]]) -> Iterator[Item]:
    """Yield the facts of a document, each after its entities."""
    for number, row in enumerate(rows):
        if not as_text(row.get("text")).strip():
            yield Fault(f"{name}, fact {number}", "it has no text")
            continue
        about = [one for one in map(as_text, as_list(row.get("entities"))) if one.strip()]
        for other in about:
            yield Entity(f"entity {other}", other)
        yield _read_fact(f"{key}/{number}", (about or [bank])[0], row)


def _read_fact(key: str, about: str, row: Mapping[str, Any]) -> ImportedFact:
    said = read_time(row.get("mentioned_at")) or read_time(row.get("event_date"))
    begin, end = read_time(row.get("occurred_start")), read_time(row.get("occurred_end"))
    kind, context = as_text(row.get("fact_type")), as_text(row.get("context"))
    # An event of one instant is still true afterwards.
    ended = end if begin and end and end > begin else None
    tags = [kind, *map(as_text, as_list(row.get("tags")))]
    return ImportedFact(
        as_text(row.get("source_id")) or key,
        about,
        row["text"],
        said,
        said_at=said,
        valid_from=begin,
        valid_until=ended if kind != "experience" else None,
        note=context or None,
        tags=[tag for tag in tags if tag],
        source="document",
    )


def _read_observations(
    value: Any, bank: str, texts: Mapping[tuple[str, int], str]
) -> Iterator[Item]:
    rows = as_list(value) or as_list(as_object(value).get("observations"))
    for number, item in enumerate(rows):
        row = as_object(item)
        text = as_text(row.get("text")).strip()
        if not text:
            yield Fault(f"observation {number}", "it has no text")
            continue
        sources = [as_object(one) for one in as_list(row.get("sources"))]
        known = (
            texts.get((as_text(one.get("document_id")), one.get("fact_index", -1)))
            for one in sources
        )
        proofs = [proof for proof in known if proof]
        said = f"{text} (proofs: {'; '.join(proofs)})" if proofs else text
        number_of = row.get("proof_count") or len(sources)
        key = as_text(row.get("id")) or f"observation {number}"
        at = read_time(row.get("created_at"))
        yield ImportedFact(
            key, bank, said, at, note=f"observation with {number_of} proofs", tags=["observation"]
        )


FORMAT = ImportFormat("hindsight", "Hindsight", recognises, read)
