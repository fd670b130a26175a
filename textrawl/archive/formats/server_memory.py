"""The file of MCP's reference memory server, in all forms of `textrawl.values.reference_file`."""

import json
import re
from collections.abc import Iterator

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import ImportFormat
from textrawl.archive.items import Entity, Fault, ImportedRelation, Item, PlainFact
from textrawl.values.reference_file import (
    ObservationRecord,
    RecordFault,
    RelationRecord,
    read_reference_file,
)

# The first object of a file: a record, or all of them in lists. Other files can hold such records
# deeper, as the calls of tools in sessions.
_RECORD = r'"(?:entityType|relationType|observations)"\s*:'
_FIRST_RECORD = re.compile(rf'\[?\s*\{{[^{{}}]*(?:{_RECORD}|"_?type"\s*:\s*"(?:entity|relation)")')
_LISTS = re.compile(r'\{[^\[\]]*"(?:entities|relations)"\s*:\s*[\[{]')


def _recognises(bundle: Bundle) -> bool:
    """Return whether a file is lines, an array or an object of entities, pretty or not."""
    if bundle.path.name not in bundle.sizes:
        return False
    head = bundle.read_head(bundle.path.name)
    text = head.decode(json.detect_encoding(head), "replace").lstrip("\ufeff \t\r\n")
    listed = _LISTS.match(text) and re.search(_RECORD, text)
    return bool(listed or _FIRST_RECORD.match(text))


def _read(bundle: Bundle) -> Iterator[Item]:
    """Yield the entities with their facts, then the relations, which lines have in any order."""
    for name in bundle.sizes:
        with bundle.open(name) as file:
            content = file.read()
        bundle.count(len(content))
        where = "" if len(bundle.sizes) == 1 else f"{name}, "
        for record in read_reference_file(content, bundle.count_cleaned):
            place = f"{where}line {record.number}"
            if isinstance(record, RecordFault):
                yield Fault(place, record.reason)
            elif isinstance(record, RelationRecord):
                own = record.source, record.label, record.target
                yield ImportedRelation(place, *own, record.created_at)
            else:
                yield Entity(place, record.name, record.type)
                yield from (_read_fact(place, record.name, said) for said in record.observations)


def _read_fact(place: str, name: str, said: ObservationRecord) -> PlainFact:
    day = f"{said.said_at.date()} " if said.said_at and not said.inherited else ""
    return PlainFact(f"{place}, {name}", name, said.text, said_at=said.said_at, day=day)


FORMAT = ImportFormat(
    "server-memory",
    "MCP's reference memory server",
    _recognises,
    _read,
    listed=False,
    untyped="Generic",
)
