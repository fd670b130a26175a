"""The exports of ChatGPT and of Claude: files of conversations, in a zip or alone.

A conversation of ChatGPT is a tree of messages, because a message can be edited and an answer made
again. Its turns are the path from `current_node` to the root, which is what the person sees. Texts
that the person does not see are left out, and so are tool calls.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import (
    ImportFormat,
    as_list,
    as_object,
    as_text,
    read_texts,
    read_time,
    walk,
)
from textrawl.archive.items import Conversation, Fault, ImportedNote, Item, Turn

_SEEN = ("text", "multimodal_text")


def _find_chatgpt_files(bundle: Bundle) -> list[str]:
    """Return the files of conversations. A large export has several: conversations-000.json."""
    names = [name for name in bundle.sizes if name.endswith(".json")]
    own = [name for name in names if name.rpartition("/")[2].startswith("conversations")]
    return sorted(own) or (names if len(names) == 1 else [])


def _is_chatgpt(bundle: Bundle) -> bool:
    """Return whether the files are an export of ChatGPT."""
    heads = [bundle.read_head(name) for name in _find_chatgpt_files(bundle)[:1]]
    return any(b'"mapping"' in head and head.lstrip()[:1] == b"[" for head in heads)


def _read_chatgpt(bundle: Bundle) -> Iterator[Item]:
    """Yield the conversations."""
    for name in _find_chatgpt_files(bundle):
        for number, value in enumerate(bundle.read_array(name), 1):
            conversation = as_object(value)
            key = as_text(conversation.get("conversation_id") or conversation.get("id"))
            if key and as_object(conversation.get("mapping")):
                yield _read_tree(key, conversation)
            else:
                yield Fault(f"{name}, conversation {number}", "it has no id or no messages")


def _read_tree(key: str, value: Mapping[str, Any]) -> Conversation:
    mapping = as_object(value["mapping"])
    leaf = as_text(value.get("current_node")) or _find_leaf(mapping)
    nodes = walk(mapping, leaf, "parent")
    turns = [turn for node in nodes if (turn := _read_node(as_object(node.get("message"))))]
    title, begin = as_text(value.get("title")), read_time(value.get("create_time"))
    return Conversation(key, title, turns, begin)


def _find_leaf(mapping: Mapping[str, Any]) -> str:
    """Return the last node without children. Exports of 2023 can lack `current_node`."""
    leaves = [key for key, node in mapping.items() if not as_object(node).get("children")]
    return leaves[-1] if leaves else ""


def _read_node(message: Mapping[str, Any]) -> Turn | None:
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


_SPEAKERS = {"human": "user", "assistant": "assistant"}
_MARKS = {
    "conversations": (b'"chat_messages"',),
    "projects": (b'"prompt_template"', b'"docs"'),
    "memories": (b'"conversations_memory"', b'"project_memories"'),
}


def _find_claude_files(bundle: Bundle) -> dict[str, str]:
    """Return the kind of each file of the export by its name."""
    found = dict[str, str]()
    for name in sorted(bundle.sizes):
        stem = name.rpartition("/")[2].removesuffix(".json")
        kind = next((kind for kind in _MARKS if stem.startswith(kind)), None)
        if not name.endswith(".json") or (kind is None and len(bundle.sizes) > 1):
            continue
        head = bundle.read_head(name)
        for one, marks in _MARKS.items():
            if kind in (None, one) and any(mark in head for mark in marks):
                found[name] = one
    return found


def _is_claude(bundle: Bundle) -> bool:
    """Return whether the files are an export of Claude."""
    return bool(_find_claude_files(bundle))


def _read_claude(bundle: Bundle) -> Iterator[Item]:
    """Yield the conversations, the documents of projects, and what Claude remembers."""
    readers = {
        "conversations": _read_conversation,
        "projects": _read_project,
        "memories": _read_memories,
    }
    for name, kind in _find_claude_files(bundle).items():
        for number, value in enumerate(bundle.read_array(name), 1):
            yield from readers[kind](f"{name}, item {number}", as_object(value))


def _read_conversation(place: str, value: Mapping[str, Any]) -> Iterator[Item]:
    key, messages = as_text(value.get("uuid")), as_list(value.get("chat_messages"))
    if not key:
        yield Fault(place, "it has no uuid")
        return
    leaf = as_text(value.get("current_leaf_message_uuid"))
    nodes = {as_text(as_object(one).get("uuid")): as_object(one) for one in messages}
    chosen = walk(nodes, leaf, "parent_message_uuid") if leaf in nodes else list(nodes.values())
    turns = [turn for message in chosen if (turn := _read_message(message))]
    begin = read_time(value.get("created_at"))
    yield Conversation(key, as_text(value.get("name")), turns, begin)


def _read_message(message: Mapping[str, Any]) -> Turn | None:
    speaker = _SPEAKERS.get(as_text(message.get("sender")))
    texts = list(read_texts(message.get("content"))) or [as_text(message.get("text"))]
    for attachment in map(as_object, as_list(message.get("attachments"))):
        name = as_text(attachment.get("file_name")) or "pasted text"
        texts.append(f"[{name}]\n{as_text(attachment.get('extracted_content'))}".strip())
    texts += [
        f"[{as_text(one.get('file_name')) or 'file'}]"
        for one in map(as_object, as_list(message.get("files")))
    ]
    text = "\n\n".join(filter(None, (text.strip() for text in texts)))
    if speaker is None or not text:
        return None
    at = read_time(message.get("created_at"))
    return Turn("user" if speaker == "user" else "assistant", text, at)


def _read_project(place: str, value: Mapping[str, Any]) -> Iterator[Item]:
    key, name = as_text(value.get("uuid")), as_text(value.get("name"))
    if not key:
        yield Fault(place, "it has no uuid")
        return
    about = [as_text(value.get("description")), as_text(value.get("prompt_template"))]
    text = "\n\n".join(filter(None, about))
    if text:
        yield ImportedNote(key, f"Project {name}", text, read_time(value.get("updated_at")))
    for document in map(as_object, as_list(value.get("docs"))):
        title = f"{as_text(document.get('filename'))} of the project {name}"
        content, at = as_text(document.get("content")), read_time(document.get("created_at"))
        yield ImportedNote(as_text(document.get("uuid")) or f"{key} {title}", title, content, at)


def _read_memories(_: str, value: Mapping[str, Any]) -> Iterator[Item]:
    account = as_text(value.get("account_uuid"))
    if text := as_text(value.get("conversations_memory")):
        yield ImportedNote(f"memory {account}", "Memory of Claude", text)
    for project, text in as_object(value.get("project_memories")).items():
        yield ImportedNote(f"memory {project}", "Memory of Claude on a project", as_text(text))


FORMATS = (
    ImportFormat("chatgpt", "ChatGPT", _is_chatgpt, _read_chatgpt),
    ImportFormat("claude", "Claude", _is_claude, _read_claude),
)
