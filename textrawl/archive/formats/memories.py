"""Memories of other systems: mem0, Hindsight, mcp-memory-service, Zep or Graphiti, and Letta."""

import re
from collections.abc import Iterator, Mapping

from textrawl.archive.bundles import Bundle, BundleRefused, read_object
from textrawl.archive.formats import (
    ImportFormat,
    LineIds,
    Record,
    as_list,
    as_text,
    drop_mark,
    read_parts,
    read_rows,
    read_text,
    read_texts,
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

AGENT = ".af"  # the end of the name of an agent file of Letta
_NOBODY = "mem0"
_BLOCK = re.compile(r"^---\s*\n(?=id: .*\ncreated_at: )", re.MULTILINE)
_BACKUP = "memories.jsonl.gz"
_PLACES = ("agent_id", "run_id", "branch", "app")


def _is_mem0(bundle: Bundle) -> bool:
    """Return whether the files are rows of its API, the file of its plugin, or OpenMemory's zip."""
    if bundle.find(_BACKUP):
        return True
    head = bundle.read_first_head()
    if bundle.path.suffix == ".md":
        return bool(re.search(rb"\A\s*---\s*\nid: .*\ncreated_at: ", head))
    return b'"memory"' in head and bool(re.search(rb'"(user|agent|run)_id"', head))


def _read_mem0(bundle: Bundle) -> Iterator[Item]:
    """Yield the memories, and the users and agents that they are about.

    A model wrote these memories, so mem0 is their author, whomever they are about.
    """
    for number, row in enumerate(_read_mem0_rows(bundle), 1):
        if isinstance(row, Fault):
            yield row
        elif row.get("state") == "deleted":
            continue
        elif target := row.text("destination").strip():
            source, label = row.text("source").strip(), row.text("relationship").strip()
            if source and label:
                yield ImportedRelation(f"{source} {label} {target}", source, label, target)
            else:
                yield Fault(f"memory {number}", "a relation has no source or no relationship")
        elif row.text("id") and row.text("memory", "content", "data").strip():
            about = row.text("user_id", "agent_id", "run_id") or _NOBODY
            yield Entity(f"entity {about}", about, "person" if row.text("user_id") else "concept")
            yield _read_memory(about, row)
        else:
            yield Fault(f"memory {number}", "it has no id or no text")


def _read_memory(about: str, row: Record) -> ImportedFact:
    tags = row.get("categories") or row.part("metadata").get("category") or row.get("type")
    at = row.time("created_at")
    return ImportedFact(
        row.text("id"),
        about,
        row.text("memory", "content", "data"),
        at,
        said_at=row.time("updated_at") or at,
        valid_until=row.time("archived_at") if row.get("state") == "archived" else None,
        confidence=_read_confidence(row.get("confidence")),
        note=", ".join(f"{name} {row[name]}" for name in _PLACES if row.text(name)) or None,
        tags=[tags] if isinstance(tags, str) else list(map(as_text, as_list(tags))),
    )


def _read_confidence(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, str | int | float) else -1
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def _read_mem0_rows(bundle: Bundle) -> Iterator[Record | Fault]:
    """Yield the rows of all forms as rows of the API."""
    packed = bundle.find(_BACKUP)
    for name in [packed] if packed else bundle.sizes:
        if name.endswith(".md"):
            yield from _read_plugin(bundle, name)
        elif name.endswith((".jsonl", ".gz")):
            for _, row in read_rows(bundle, name):
                if isinstance(row, Record) and (user := row.part("user").text("user_id")):
                    row["user_id"] = user
                yield row
        elif name.endswith(".json"):
            value = bundle.read_json(name)
            found = Record.of(value)
            rows = as_list(value) or found.get("results") or found.get("memories")
            yield from map(Record.of, [*as_list(rows), *as_list(found.get("relations"))])


def _read_plugin(bundle: Bundle, name: str) -> Iterator[Record | Fault]:
    text = read_text(bundle, name)
    if isinstance(text, Fault):
        yield text
        return
    for block in _BLOCK.split(text)[1:]:
        note = read_note(f"---\n{block}")
        row = Record(note.fields)
        lists = (one.strip() for one in row.text("categories").split(","))
        yield Record(row | {"memory": note.body, "categories": [one for one in lists if one]})


def _is_hindsight(bundle: Bundle) -> bool:
    """Return whether the files are an archive of Hindsight."""
    name = bundle.find("manifest.json")
    return name is not None and b'"source_bank_id"' in bundle.read_head(name)


def _read_hindsight(bundle: Bundle) -> Iterator[Item]:
    """Yield the documents with their facts, and the observations with their proofs."""
    name = bundle.find("manifest.json")
    if name is None:
        raise BundleRefused(f"{bundle.path} has no manifest.json of Hindsight")
    bank = Record.of(bundle.read_json(name)).text("source_bank_id") or "Hindsight"
    yield Entity("bank", bank, "concept")
    texts = dict[tuple[str, int], str]()
    names = [one for one in bundle.sizes if "documents/" in one and one.endswith(".json")]
    for name in sorted(names):
        document = Record.of(bundle.read_json(name))
        key = document.text("id")
        if not key:
            yield Fault(name, "it has no id")
            continue
        if text := document.text("original_text").strip():
            yield ImportedNote(key, key, text, document.time("created_at"))
        for number, row in enumerate(document.parts("facts")):
            texts[key, number] = row.text("text")
            if not row.text("text").strip():
                yield Fault(f"{name}, fact {number}", "it has no text")
                continue
            about = row.texts("entities")
            yield from (Entity(f"entity {other}", other) for other in about)
            yield _read_fact(f"{key}/{number}", [*about, bank][0], row)
    if name := bundle.find("observations.json"):
        value = bundle.read_json(name)
        rows = as_list(value) or as_list(Record.of(value).get("observations"))
        for number, row in enumerate(map(Record.of, rows)):
            yield _read_observation(number, bank, row, texts)


def _read_fact(key: str, about: str, row: Record) -> ImportedFact:
    said_at = row.time("mentioned_at", "event_date")
    begin, end = row.time("occurred_start"), row.time("occurred_end")
    # An event of one instant is still true afterwards.
    ended = end if begin and end and end > begin else None
    kind = row.text("fact_type")
    return ImportedFact(
        row.text("source_id") or key,
        about,
        row.text("text"),
        said_at,
        said_at=said_at,
        valid_from=begin,
        valid_until=ended if kind != "experience" else None,
        note=row.text("context") or None,
        tags=[tag for tag in (kind, *map(as_text, as_list(row.get("tags")))) if tag],
        source="document",
    )


def _read_observation(
    number: int, bank: str, row: Record, texts: Mapping[tuple[str, int], str]
) -> Item:
    text, sources = row.text("text").strip(), row.parts("sources")
    if not text:
        return Fault(f"observation {number}", "it has no text")
    keys = [(one.text("document_id"), one.get("fact_index", -1)) for one in sources]
    proofs = [proof for key in keys if (proof := texts.get(key))]
    return ImportedFact(
        row.text("id") or f"observation {number}",
        bank,
        f"{text} (proofs: {'; '.join(proofs)})" if proofs else text,
        row.time("created_at"),
        note=f"observation with {row.get('proof_count') or len(sources)} proofs",
        tags=["observation"],
    )


_ABOUT = "mcp-memory-service"


def _is_memory_service(bundle: Bundle) -> bool:
    """Return whether the file is the JSON export, a list of memories with tags and a type."""
    head = bundle.read_first_head()
    return b'"export_metadata"' in head or b'"content_hash"' in head


def _read_memory_service(bundle: Bundle) -> Iterator[Item]:
    """Yield the memories. Their entity is the first tag that names a project or a person."""
    for name in bundle.sizes:
        for place, row in read_parts(bundle, name, "memory", "memories.item"):
            text, key = row.text("content"), row.text("content_hash")
            if not text.strip() or not key:
                yield Fault(place, "it has no hash or no content")
                continue
            tags = list(map(as_text, as_list(row.get("tags"))))
            named = (tag for tag in tags if tag.startswith(("proj:", "project:", "person:")))
            about = next(named, "").partition(":")[2].strip() or _ABOUT
            yield Entity(f"entity {about}", about, None)
            at = row.time("created_at", "created_at_iso")
            kinds = [kind] if (kind := row.text("memory_type")) else []
            yield ImportedFact(key, about, text, at, said_at=at, tags=[*kinds, *tags])


def _is_graphiti(bundle: Bundle) -> bool:
    """Return whether the file is a graph of Zep or Graphiti."""
    head = bundle.read_first_head()
    return sum(mark in head for mark in (b'"source_node_uuid"', b'"group_id"', b'"valid_at"')) > 1


def _read_graphiti(bundle: Bundle) -> Iterator[Item]:
    """Yield the nodes as entities, the edges as facts and relations, the episodes as documents."""
    for name in bundle.sizes:
        graph = Record.of(bundle.read_json(name))
        names = dict[str, str]()
        for number, node in enumerate(graph.parts("nodes", "entity_nodes", "entities")):
            key, title = node.text("uuid"), node.text("name").strip()
            if not key or not title:
                yield Fault(f"{name}, node {number}", "it has no uuid or no name")
                continue
            names[key] = title
            kinds = (one for one in node.texts("labels") if one != "Entity")
            about = node.text("summary").strip() or None
            yield Entity(key, title, next(kinds, None), about, at=node.time("created_at"))
        for number, edge in enumerate(graph.parts("edges", "entity_edges", "facts")):
            source = names.get(edge.text("source_node_uuid"))
            target = names.get(edge.text("target_node_uuid"))
            if not source or not target or not edge.text("uuid"):
                yield Fault(f"{name}, edge {number}", "it has no uuid, or a node of it is missing")
                continue
            yield from _read_edge(edge, source, target)
        for episode in graph.parts("episodes", "episodic_nodes"):
            if text := episode.text("content").strip():
                title = episode.text("name", "source_description")
                at = episode.time("valid_at")
                yield ImportedNote(episode.text("uuid"), title, text, at)


def _read_edge(edge: Record, source: str, target: str) -> Iterator[Item]:
    key, at, begin = edge.text("uuid"), edge.time("created_at"), edge.time("valid_at")
    # Graphiti sets `expired_at` when it learns that the edge is not valid any more.
    end = edge.time("invalid_at", "expired_at")
    if relation := edge.text("name").strip():
        yield ImportedRelation(key, source, relation.lower(), target, at, begin, end)
    if text := edge.text("fact").strip():
        said = edge.time("reference_time")
        yield ImportedFact(f"{key}/fact", source, text, at, said, begin, end)


def _is_letta(bundle: Bundle) -> bool:
    """Return whether all files are agent files (`.af`)."""
    head = bundle.read_first_head().lstrip()[:1]
    return head in (b"{", b'"') and all(name.endswith(AGENT) for name in bundle.sizes)


def _read_letta(bundle: Bundle) -> Iterator[Item]:
    """Yield the lines of blocks as facts about the agents, and the messages as conversations."""
    for name in bundle.sizes:
        value = bundle.read_json(name)  # some tools publish the text of a file as JSON
        file = Record(read_object(value.encode()) or {}) if isinstance(value, str) else value
        file = Record.of(file)
        blocks = {one.text("id"): one for one in file.parts("blocks")}
        taken = set[str]()
        # The first version has one agent, with its blocks inside.
        for agent in file.parts("agents") or [file]:
            title = agent.text("name").strip()
            if not title:
                yield Fault(name, "an agent has no name")
                continue
            key = agent.text("id") or title
            yield Entity(key, title, "agent", agent.text("description") or None)
            own = [one for one in agent.texts("block_ids") if one in blocks]
            taken |= set(own)
            for block in [*(blocks[one] for one in own), *agent.parts("core_memory")]:
                yield from _read_block(key, title, block)
            yield from _read_messages(key, title, agent)
        for one, block in blocks.items():
            if one not in taken:
                yield from _read_block(one, block.text("label") or name, block)


def _read_block(agent: str, title: str, block: Record) -> Iterator[Item]:
    label, ids = block.text("label") or "block", LineIds()
    for line in dict.fromkeys(block.text("value").split("\n")):
        if text := drop_mark(line):
            group = f"{block.text('id') or agent}/{label}"
            key = ids.write(group, text, line.strip().lstrip("-*# ").strip())
            yield ImportedFact(key, title, f"{label}: {text}", note=f"block {label}", tags=[label])


def _read_messages(key: str, title: str, agent: Record) -> Iterator[Item]:
    turns = list[Turn]()
    for message in agent.parts("messages"):
        speaker, text = message.get("role"), "\n".join(read_texts(message.get("content"))).strip()
        if speaker in ("user", "assistant") and text:
            turns.append(Turn(speaker, text, message.time("created_at")))
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
