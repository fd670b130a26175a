"""A file of the reference memory server, read with the rights of who calls: the migrate tool."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anyio import to_thread

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.graph.operations import Graph, Node, Triple
from textrawl.values.reference_line import LineRefused, parse_line, read_name, read_text

_BATCH = 100
_MOST_BYTES = 64 << 20
_NOT_THERE = (
    "source_path: give the name of a file in the server's folder for imports, which is import in "
    "TEXTRAWL_DATA_DIR; or ask who runs the server to run "
    "`textrawl import --from server-memory FILE`"
)


@dataclass
class Migrated:
    """What became of the lines of a file."""

    entities: int = 0
    relations: int = 0
    errors: int = 0
    skipped: int = 0


def find_file(folder: Path | None, given: str) -> Path:
    """The file of `folder` that is meant. Raises ArgumentInvalid for any other."""
    if folder is None:
        raise ArgumentInvalid(_NOT_THERE)
    home = folder.expanduser().resolve()
    file = (home / Path(given).expanduser()).resolve()
    if not file.is_relative_to(home) or not file.is_file():
        raise ArgumentInvalid(_NOT_THERE)
    if file.stat().st_size > _MOST_BYTES:
        raise ArgumentInvalid("source_path: too large; use `textrawl import --from server-memory`")
    return file


async def migrate_file(file: Path, graph: Graph, caller: Caller) -> Migrated:
    """Adds what `file` says, in its order; relations only between entities that are there by then.

    What is there already is not stored twice, so that it may be read again.
    """
    done = Migrated()
    content = await to_thread.run_sync(file.read_bytes)
    for batch in _gather(content, done):
        nodes = [item for item in batch if isinstance(item, Node)]
        triples = [item for item in batch if isinstance(item, Triple)]
        if nodes:
            await graph.create(nodes, caller)
            done.entities += len(nodes)
        if triples:
            rows = await graph.relate(triples, caller)
            made = sum(row.outcome == "created" for row in rows)
            done.relations += made
            done.skipped += len(rows) - made
    return done


def _gather(content: bytes, done: Migrated) -> Iterator[list[Node | Triple]]:
    """Entities or relations that follow each other; counts lines that cannot be used."""
    batch = list[Node | Triple]()
    for raw in content.split(b"\n"):
        item = _read(raw, done) if raw.strip() else None
        if item is None:
            continue
        if batch and (len(batch) >= _BATCH or type(batch[0]) is not type(item)):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _read(raw: bytes, done: Migrated) -> Node | Triple | None:
    try:
        given = parse_line(raw)
        if given["type"] == "relation":
            label = read_name(given, "relationType", longest=100)
            return Triple(read_name(given, "from"), label, read_name(given, "to"))
        return Node(
            read_name(given, "name"), read_name(given, "entityType", empty="Generic"),
            list(_read_texts(given.get("observations"), done)),
        )  # fmt: skip
    except LineRefused as refused:
        if "no JSON" in str(refused):
            done.errors += 1
        else:
            done.skipped += 1
        return None


def _read_texts(given: object, done: Migrated) -> Iterator[str]:
    for text in cast("list[Any]", given) if isinstance(given, list) else []:
        try:
            yield read_text(text)
        except ValueError:
            done.skipped += 1
