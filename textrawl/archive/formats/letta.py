"""Agent files of Letta (`.af`): the blocks of the memory of agents, and their messages."""

from collections.abc import Iterator
from typing import Any

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import (
    ImportFormat,
    as_list,
    as_object,
    as_text,
    read_texts,
    read_time,
)
from textrawl.archive.items import (
    Conversation,
    Entity,
    Fault,
    ImportedFact,
    Item,
    Turn,
    write_line_id,
)


def recognises(bundle: Bundle) -> bool:
    """Return whether the file is an agent file."""
    if bundle.path.suffix != ".af":
        return False
    heads = (bundle.read_head(name) for name in list(bundle.sizes)[:1])
    return any(head.lstrip()[:1] == b"{" for head in heads)


def read(bundle: Bundle) -> Iterator[Item]:
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
    label = as_text(block.get("label")) or "block"
    for line in dict.fromkeys(as_text(block.get("value")).split("\n")):
        if text := line.strip().lstrip("-*# ").strip():
            key = write_line_id(f"{as_text(block.get('id')) or agent}/{label}", text)
            yield ImportedFact(key, title, f"{label}: {text}", note=f"block {label}", tags=[label])


def _read_messages(key: str, title: str, agent: dict[str, Any]) -> Iterator[Item]:
    turns = list[Turn]()
    for message in map(as_object, as_list(agent.get("messages"))):
        speaker, text = message.get("role"), "\n".join(read_texts(message.get("content"))).strip()
        if speaker in ("user", "assistant") and text:
            turns.append(Turn(speaker, text, read_time(message.get("created_at"))))
    if turns:
        yield Conversation(f"{key}/messages", title, turns, turns[0].at)


FORMAT = ImportFormat("letta", "Letta", recognises, read)
