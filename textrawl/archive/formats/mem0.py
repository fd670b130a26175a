"""mem0: rows of its API, the file of its plugin, and the zip of OpenMemory.

A model wrote these memories, so mem0 is their author, whomever they are about.
"""

import gzip
import io
import re
from collections.abc import Iterator
from typing import Any

from textrawl.archive.bundles import MOST_ITEM, Bundle, BundleRefused, read_object
from textrawl.archive.formats import ImportFormat, as_list, as_object, as_text, read_time
from textrawl.archive.items import Entity, Fault, ImportedFact, Item
from textrawl.memory.vault import read_note

_NOBODY = "mem0"
_BLOCK = re.compile(r"^---\s*\n(?=\w+:)", re.MULTILINE)
_GONE = "deleted"


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are an export of mem0."""
    if bundle.find("memories.jsonl.gz"):
        return True
    heads = [bundle.read_head(name) for name in list(bundle.sizes)[:1]]
    if bundle.path.suffix == ".md":
        return any(re.search(rb"\A\s*---\s*\nid: .*\ncreated_at: ", head) for head in heads)
    return any(b'"memory"' in head and re.search(rb'"(user|agent|run)_id"', head) for head in heads)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the memories, and the users and agents that they are about."""
    seen = set[str]()
    for number, row in enumerate(_read_rows(bundle), 1):
        text, key = (
            as_text(row.get("memory") or row.get("content") or row.get("data")),
            as_text(row.get("id")),
        )
        if row.get("state") == _GONE:
            continue
        if not text.strip() or not key:
            yield Fault(f"memory {number}", "it has no id or no text")
            continue
        user = as_text(row.get("user_id"))
        about = user or as_text(row.get("agent_id")) or as_text(row.get("run_id")) or _NOBODY
        if about not in seen:
            seen.add(about)
            yield Entity(f"entity {about}", about, "person" if user else "concept")
        yield _read_memory(key, about, text, row)


def _read_memory(key: str, about: str, text: str, row: dict[str, Any]) -> ImportedFact:
    metadata, places = as_object(row.get("metadata")), ("agent_id", "run_id", "branch", "app")
    tags = row.get("categories") or metadata.get("category") or row.get("type")
    at = read_time(row.get("created_at"))
    changed = read_time(row.get("updated_at"))
    return ImportedFact(
        key,
        about,
        text,
        at,
        said_at=changed or at,
        valid_until=read_time(row.get("archived_at")) if row.get("state") == "archived" else None,
        confidence=_read_confidence(row.get("confidence")),
        note=", ".join(f"{name} {row[name]}" for name in places if as_text(row.get(name))) or None,
        tags=[tags] if isinstance(tags, str) else [as_text(one) for one in as_list(tags)],
    )


def _read_confidence(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, str | int | float) else -1
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def _read_rows(bundle: Bundle) -> Iterator[dict[str, Any]]:
    """Yield the rows of all forms as rows of the API."""
    if packed := bundle.find("memories.jsonl.gz"):
        yield from _read_backup(bundle, packed)
    for name in () if packed else bundle.sizes:
        if name.endswith(".md"):
            yield from _read_plugin(bundle, name)
        elif name.endswith(".jsonl"):
            for _, line in bundle.read_lines(name):
                yield read_object(line or b"") or {}
        elif name.endswith(".json"):
            value = bundle.read_json(name)
            found = as_object(value)
            rows = as_list(value) or as_list(found.get("results")) or as_list(found.get("memories"))
            yield from map(as_object, rows)


def _read_backup(bundle: Bundle, name: str) -> Iterator[dict[str, Any]]:
    with bundle.open(name) as file:
        try:
            content = gzip.GzipFile(fileobj=file).read(MOST_ITEM + 1)
        except (OSError, EOFError) as error:
            raise BundleRefused(f"{name} cannot be read: {error}") from None
    if len(content) > MOST_ITEM:
        raise BundleRefused(f"{name} has more than {MOST_ITEM >> 20} MB")
    for line in io.BytesIO(content):
        row = read_object(line) or {}
        people = as_object(row.get("user"))
        yield row | ({"user_id": people["user_id"]} if as_text(people.get("user_id")) else {})


def _read_plugin(bundle: Bundle, name: str) -> Iterator[dict[str, Any]]:
    with bundle.open(name) as file:
        text = file.read(MOST_ITEM).decode("utf-8", "replace")
    for block in _BLOCK.split(text)[1:]:
        note = read_note(f"---\n{block}")
        fields: dict[str, Any] = dict(note.fields)
        lists = as_text(fields.get("categories")).split(",")
        yield fields | {
            "memory": note.body,
            "categories": [one.strip() for one in lists if one.strip()],
        }


FORMAT = ImportFormat("mem0", "mem0", recognises, read)
