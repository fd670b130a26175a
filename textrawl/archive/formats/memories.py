"""Memories of other systems: mem0, Hindsight, mcp-memory-service, Zep or Graphiti, and Letta."""

import gzip
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from textrawl.archive.bundles import MOST_ITEM, Bundle, BundleRefused, read_object
from textrawl.archive.formats import (
    ImportFormat,
    LineIds,
    as_list,
    as_object,
    as_text,
    drop_mark,
    read_texts,
    read_time,
)
from textrawl.archive.items import (
    Conversation,
    Entity,
    Fault,
    ImportedFact,
    ImportedNote,
    ImportedRelation,
    Item,
    Turn,
)
from textrawl.memory.vault import read_note

_NOBODY = "mem0"
_BLOCK = re.compile(r"^---\s*\n(?=id: .*\ncreated_at: )", re.MULTILINE)
_GONE = "deleted"


def _is_mem0(bundle: Bundle) -> bool:
    """Return whether the files are rows of its API, the file of its plugin, or OpenMemory's zip."""
    if bundle.find("memories.jsonl.gz"):
        return True
    head = bundle.read_first_head()
    if bundle.path.suffix == ".md":
        return bool(re.search(rb"\A\s*---\s*\nid: .*\ncreated_at: ", head))
    return b'"memory"' in head and bool(re.search(rb'"(user|agent|run)_id"', head))


def _read_mem0(bundle: Bundle) -> Iterator[Item]:
    """Yield the memories, and the users and agents that they are about.

    A model wrote these memories, so mem0 is their author, whomever they are about.
    """
    seen = set[str]()
    for number, row in enumerate(_read_mem0_rows(bundle), 1):
        text = as_text(row.get("memory") or row.get("content") or row.get("data"))
        key = as_text(row.get("id"))
        if row.get("state") == _GONE:
            continue
        if target := as_text(row.get("destination")).strip():
            yield from _read_mem0_relation(number, row, target)
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


def _read_mem0_relation(number: int, row: dict[str, Any], target: str) -> Iterator[Item]:
    source, label = as_text(row.get("source")).strip(), as_text(row.get("relationship")).strip()
    if source and label:
        yield ImportedRelation(f"{source} {label} {target}", source, label, target)
    else:
        yield Fault(f"memory {number}", "a relation has no source or no relationship")


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


def _read_mem0_rows(bundle: Bundle) -> Iterator[dict[str, Any]]:
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
            yield from map(as_object, [*rows, *as_list(found.get("relations"))])


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
        content = file.read(MOST_ITEM)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise BundleRefused(f"{name} is not UTF-8") from None
    for block in _BLOCK.split(text)[1:]:
        note = read_note(f"---\n{block}")
        fields: dict[str, Any] = dict(note.fields)
        lists = as_text(fields.get("categories")).split(",")
        yield fields | {
            "memory": note.body,
            "categories": [one.strip() for one in lists if one.strip()],
        }


def _is_hindsight(bundle: Bundle) -> bool:
    """Return whether the files are an archive of Hindsight."""
    name = bundle.find("manifest.json")
    return name is not None and b'"source_bank_id"' in bundle.read_head(name)


def _read_hindsight(bundle: Bundle) -> Iterator[Item]:
    """Yield the documents with their facts, and the observations with their proofs."""
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
        yield from _read_facts(name, key, bank, rows, seen)
    if name := bundle.find("observations.json"):
        yield from _read_observations(bundle.read_json(name), bank, texts)


def _read_facts(
    name: str, key: str, bank: str, rows: list[dict[str, Any]], seen: set[str]
) -> Iterator[Item]:
    """Yield the facts of a document. Yield entities that are not `seen` before their facts."""
    for number, row in enumerate(rows):
        if not as_text(row.get("text")).strip():
            yield Fault(f"{name}, fact {number}", "it has no text")
            continue
        about = [one for one in map(as_text, as_list(row.get("entities"))) if one.strip()]
        for other in dict.fromkeys(about):
            if other not in seen:
                yield Entity(f"entity {other}", other)
        seen |= {*about}
        yield _read_fact(f"{key}/{number}", (about or [bank])[0], row)


def _read_fact(key: str, about: str, row: Mapping[str, Any]) -> ImportedFact:
    said_at = read_time(row.get("mentioned_at")) or read_time(row.get("event_date"))
    begin, end = read_time(row.get("occurred_start")), read_time(row.get("occurred_end"))
    kind, context = as_text(row.get("fact_type")), as_text(row.get("context"))
    # An event of one instant is still true afterwards.
    ended = end if begin and end and end > begin else None
    tags = [kind, *map(as_text, as_list(row.get("tags")))]
    return ImportedFact(
        as_text(row.get("source_id")) or key,
        about,
        row["text"],
        said_at,
        said_at=said_at,
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
        keys = [(as_text(one.get("document_id")), one.get("fact_index", -1)) for one in sources]
        proofs = [proof for key in keys if (proof := texts.get(key))]
        fact = f"{text} (proofs: {'; '.join(proofs)})" if proofs else text
        number_of = row.get("proof_count") or len(sources)
        key = as_text(row.get("id")) or f"observation {number}"
        at = read_time(row.get("created_at"))
        yield ImportedFact(
            key, bank, fact, at, note=f"observation with {number_of} proofs", tags=["observation"]
        )


_ABOUT = "mcp-memory-service"


def _is_memory_service(bundle: Bundle) -> bool:
    """Return whether the file is the JSON export, a list of memories with tags and a type."""
    head = bundle.read_first_head()
    return b'"export_metadata"' in head or b'"content_hash"' in head


def _read_memory_service(bundle: Bundle) -> Iterator[Item]:
    """Yield the memories. Their entity is the first tag that names a project or a person."""
    seen = set[str]()
    for name in bundle.sizes:
        for number, value in enumerate(bundle.read_array(name, "memories.item"), 1):
            row = as_object(value)
            text, key = as_text(row.get("content")), as_text(row.get("content_hash"))
            tags = [as_text(tag) for tag in as_list(row.get("tags"))]
            if not text.strip() or not key:
                yield Fault(f"{name}, memory {number}", "it has no hash or no content")
                continue
            named = (tag for tag in tags if tag.startswith(("proj:", "project:", "person:")))
            about = next(named, "").partition(":")[2].strip() or _ABOUT
            if about not in seen:
                seen.add(about)
                yield Entity(f"entity {about}", about, None)
            at = read_time(row.get("created_at")) or read_time(row.get("created_at_iso"))
            kind = as_text(row.get("memory_type"))
            tags = [kind, *tags] if kind else tags
            yield ImportedFact(key, about, text, at, said_at=at, tags=tags)


_NODES = ("nodes", "entity_nodes", "entities")
_EDGES = ("edges", "entity_edges", "facts")
_EPISODES = ("episodes", "episodic_nodes")


def _is_graphiti(bundle: Bundle) -> bool:
    """Return whether the file is a graph of Zep or Graphiti."""
    head = bundle.read_first_head()
    return sum(mark in head for mark in (b'"source_node_uuid"', b'"group_id"', b'"valid_at"')) > 1


def _read_graphiti(bundle: Bundle) -> Iterator[Item]:
    """Yield the nodes as entities, the edges as facts and relations, the episodes as documents."""
    for name in bundle.sizes:
        graph = as_object(bundle.read_json(name))
        names = dict[str, str]()
        for number, node in enumerate(_list_rows(graph, _NODES)):
            key, title = as_text(node.get("uuid")), as_text(node.get("name")).strip()
            if not key or not title:
                yield Fault(f"{name}, node {number}", "it has no uuid or no name")
                continue
            names[key] = title
            yield _read_node(key, title, node)
        for number, edge in enumerate(_list_rows(graph, _EDGES)):
            source = names.get(as_text(edge.get("source_node_uuid")))
            target = names.get(as_text(edge.get("target_node_uuid")))
            if not source or not target or not as_text(edge.get("uuid")):
                yield Fault(f"{name}, edge {number}", "it has no uuid, or a node of it is missing")
                continue
            yield from _read_edge(edge, source, target)
        for episode in _list_rows(graph, _EPISODES):
            if text := as_text(episode.get("content")).strip():
                title = as_text(episode.get("name")) or as_text(episode.get("source_description"))
                yield ImportedNote(
                    as_text(episode.get("uuid")), title, text, read_time(episode.get("valid_at"))
                )


def _list_rows(graph: Mapping[str, Any], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    return [as_object(one) for key in keys for one in as_list(graph.get(key))]


def _read_node(key: str, title: str, node: Mapping[str, Any]) -> Entity:
    labels = [as_text(one) for one in as_list(node.get("labels"))]
    kind = next((one for one in labels if one and one != "Entity"), None)
    summary = as_text(node.get("summary")).strip() or None
    return Entity(key, title, kind, summary, at=read_time(node.get("created_at")))


def _read_edge(edge: Mapping[str, Any], source: str, target: str) -> Iterator[Item]:
    key, at = as_text(edge.get("uuid")), read_time(edge.get("created_at"))
    begin = read_time(edge.get("valid_at"))
    # Graphiti sets `expired_at` when it learns that the edge is not valid any more.
    end = read_time(edge.get("invalid_at")) or read_time(edge.get("expired_at"))
    if relation := as_text(edge.get("name")).strip():
        yield ImportedRelation(key, source, relation.lower(), target, at, begin, end)
    if text := as_text(edge.get("fact")).strip():
        said = read_time(edge.get("reference_time"))
        yield ImportedFact(f"{key}/fact", source, text, at, said, begin, end)


def _is_letta(bundle: Bundle) -> bool:
    """Return whether the file is an agent file (`.af`)."""
    return bundle.path.suffix == ".af" and bundle.read_first_head().lstrip()[:1] == b"{"


def _read_letta(bundle: Bundle) -> Iterator[Item]:
    """Yield the lines of blocks as facts about the agents, and the messages as conversations."""
    for name in bundle.sizes:
        file = as_object(bundle.read_json(name))
        blocks = {
            as_text(one.get("id")): one for one in map(as_object, as_list(file.get("blocks")))
        }
        # The first version has one agent, with its blocks inside.
        agents = [as_object(one) for one in as_list(file.get("agents"))] or [file]
        taken = set[str]()
        for agent in agents:
            title = as_text(agent.get("name")).strip()
            if not title:
                yield Fault(name, "an agent has no name")
                continue
            key = as_text(agent.get("id")) or title
            yield Entity(key, title, "agent", as_text(agent.get("description")) or None)
            own = [as_text(one) for one in as_list(agent.get("block_ids"))]
            taken |= set(own)
            inside = [as_object(one) for one in as_list(agent.get("core_memory"))]
            for block in [*(blocks[one] for one in own if one in blocks), *inside]:
                yield from _read_block(key, title, block)
            yield from _read_messages(key, title, agent)
        for one in blocks.keys() - taken:
            yield from _read_block(one, as_text(blocks[one].get("label")) or name, blocks[one])


def _read_block(agent: str, title: str, block: dict[str, Any]) -> Iterator[Item]:
    label, ids = as_text(block.get("label")) or "block", LineIds()
    for line in dict.fromkeys(as_text(block.get("value")).split("\n")):
        if text := drop_mark(line):
            group = f"{as_text(block.get('id')) or agent}/{label}"
            key = ids.write(group, text, line.strip().lstrip("-*# ").strip())
            yield ImportedFact(key, title, f"{label}: {text}", note=f"block {label}", tags=[label])


def _read_messages(key: str, title: str, agent: dict[str, Any]) -> Iterator[Item]:
    turns = list[Turn]()
    for message in map(as_object, as_list(agent.get("messages"))):
        speaker, text = message.get("role"), "\n".join(read_texts(message.get("content"))).strip()
        if speaker in ("user", "assistant") and text:
            turns.append(Turn(speaker, text, read_time(message.get("created_at"))))
    if turns:
        yield Conversation(f"{key}/messages", title, turns, turns[0].at)


FORMATS = (
    ImportFormat("mem0", "mem0", _is_mem0, _read_mem0),
    ImportFormat("hindsight", "Hindsight", _is_hindsight, _read_hindsight),
    ImportFormat(
        "mcp-memory-service", "mcp-memory-service", _is_memory_service, _read_memory_service
    ),
    ImportFormat("graphiti", "Zep or Graphiti", _is_graphiti, _read_graphiti),
    ImportFormat("letta", "Letta", _is_letta, _read_letta),
)
