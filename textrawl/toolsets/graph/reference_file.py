"""The import of a file of the reference memory server, for the tool `migrate`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anyio import to_thread

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.graph.operations import GraphOperations, Node, Relation
from textrawl.values.reference_line import LineBroken, LineRefused, parse_line, read_name, read_text

_BATCH = 100
_MOST_BYTES = 64 << 20
_FILE_MISSING = (
    "source_path: give the name of a file in the server's import folder, which is the folder "
    "import in TEXTRAWL_DATA_DIR; or ask the administrator of the server to run "
    "`textrawl import --from server-memory FILE`"
)


@dataclass
class Migrated:
    """The counts of imported, refused and skipped lines of a file."""

    entities: int = 0
    relations: int = 0
    errors: int = 0
    skipped: int = 0


def find_file(folder: Path | None, path: str) -> Path:
    """Return the file at `path` in `folder`.

    Raises ArgumentInvalid if the file is outside of the folder, missing or too large.
    """
    if folder is None:
        raise ArgumentInvalid(_FILE_MISSING)
    home = folder.expanduser().resolve()
    file = (home / Path(path).expanduser()).resolve()
    if not file.is_relative_to(home) or not file.is_file():
        raise ArgumentInvalid(_FILE_MISSING)
    if file.stat().st_size > _MOST_BYTES:
        raise ArgumentInvalid("source_path: too large; use `textrawl import --from server-memory`")
    return file


async def migrate_file(file: Path, graph: GraphOperations, caller: Caller) -> Migrated:
    """Import the entities and relations of `file`, in the order of its lines.

    A relation is skipped if one of its entities does not exist yet. Nothing is stored twice, so a
    file can be imported again.
    """
    done = Migrated()
    content = await to_thread.run_sync(file.read_bytes)
    for batch in _gather(content, done):
        nodes = [item for item in batch if isinstance(item, Node)]
        relations = [item for item in batch if isinstance(item, Relation)]
        if nodes:
            await graph.create(nodes, caller)
            done.entities += len(nodes)
        if relations:
            rows = await graph.relate(relations, caller)
            created = sum(row.outcome == "created" for row in rows)
            done.relations += created
            done.skipped += len(rows) - created
    return done


def _gather(content: bytes, done: Migrated) -> Iterator[list[Node | Relation]]:
    """Yield batches of consecutive entities or relations. Count the unusable lines in `done`."""
    batch = list[Node | Relation]()
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


def _read(raw: bytes, done: Migrated) -> Node | Relation | None:
    try:
        fields = parse_line(raw)
        if fields["type"] == "relation":
            label = read_name(fields, "relationType", longest=100)
            return Relation(read_name(fields, "from"), label, read_name(fields, "to"))
        return Node(
            read_name(fields, "name"),
            read_name(fields, "entityType", empty="Generic"),
            list(_read_texts(fields.get("observations"), done)),
        )
    except LineBroken:
        done.errors += 1
    except LineRefused:
        done.skipped += 1
    return None


def _read_texts(observations: object, done: Migrated) -> Iterator[str]:
    for text in cast("list[Any]", observations) if isinstance(observations, list) else []:
        try:
            yield read_text(text)
        except ValueError:
            done.skipped += 1
