"""The export of ChatGPT: a zip with conversations.json, or this file alone.

A conversation is a tree of messages, because a message can be edited and an answer made again. Its
turns are the path from `current_node` to the root, which is what the person sees. Texts that the
person does not see are left out, and so are tool calls.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import ImportFormat, as_list, as_object, as_text, read_time, walk
from textrawl.archive.items import Conversation, Fault, Item, Turn

_FILE = "conversations.json"
_SEEN = ("text", "multimodal_text")


def _find_files(bundle: Bundle) -> list[str]:
    """Return the files of conversations. A large export has several: conversations-000.json."""
    names = [name for name in bundle.sizes if name.endswith(".json")]
    own = [name for name in names if name.rpartition("/")[2].startswith("conversations")]
    return sorted(own) or (names if len(names) == 1 else [])


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are an export of ChatGPT."""
    heads = [bundle.read_head(name) for name in _find_files(bundle)[:1]]
    return any(b'"mapping"' in head and head.lstrip()[:1] == b"[" for head in heads)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the conversations."""
    for name in _find_files(bundle):
        for number, value in enumerate(bundle.read_array(name), 1):
            conversation = as_object(value)
            key = as_text(conversation.get("conversation_id") or conversation.get("id"))
            if key and as_object(conversation.get("mapping")):
                yield _read_conversation(key, conversation)
            else:
                yield Fault(f"{name}, conversation {number}", "it has no id or no messages")


def _read_conversation(key: str, value: Mapping[str, Any]) -> Conversation:
    mapping = as_object(value["mapping"])
    leaf = as_text(value.get("current_node")) or _find_leaf(mapping)
    nodes = walk(mapping, leaf, "parent")
    turns = [turn for node in nodes if (turn := _read_message(as_object(node.get("message"))))]
    title, begin = as_text(value.get("title")), read_time(value.get("create_time"))
    return Conversation(key, title, turns, begin)


def _find_leaf(mapping: Mapping[str, Any]) -> str:
    """Return the last node without children. Exports of 2023 can lack `current_node`."""
    leaves = [key for key, node in mapping.items() if not as_object(node).get("children")]
    return leaves[-1] if leaves else ""


def _read_message(message: Mapping[str, Any]) -> Turn | None:
    speaker = as_object(message.get("author")).get("role")
    content, metadata = as_object(message.get("content")), as_object(message.get("metadata"))
    if (
        speaker not in ("user", "assistant")
        or message.get("weight") == 0
        or metadata.get("is_visually_hidden_from_conversation")
        or message.get("recipient") not in ("all", None)
        or content.get("content_type") not in _SEEN
    ):
        return None
    text = "\n\n".join(filter(None, map(_read_part, as_list(content.get("parts")))))
    return Turn(speaker, text, read_time(message.get("create_time"))) if text.strip() else None


def _read_part(part: object) -> str:
    """Return the text of a part. Of a voice it is the transcript, and of an image a mark."""
    if isinstance(part, str):
        return part
    value = as_object(part)
    kind = as_text(value.get("content_type")).removesuffix("_asset_pointer")
    return as_text(value.get("text")) or (f"[{kind}]" if kind else "")


FORMAT = ImportFormat("chatgpt", "ChatGPT", recognises, read)
