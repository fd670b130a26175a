"""The export of Claude: conversations.json, projects.json and memories.json, in a zip or alone."""

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

_SPEAKERS = {"human": "user", "assistant": "assistant"}
_MARKS = {
    "conversations": (b'"chat_messages"',),
    "projects": (b'"prompt_template"', b'"docs"'),
    "memories": (b'"conversations_memory"', b'"project_memories"'),
}


def _find_files(bundle: Bundle) -> dict[str, str]:
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


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are an export of Claude."""
    return bool(_find_files(bundle))


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the conversations, the documents of projects, and what Claude remembers."""
    readers = {
        "conversations": _read_conversation,
        "projects": _read_project,
        "memories": _read_memories,
    }
    for name, kind in _find_files(bundle).items():
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


FORMAT = ImportFormat("claude", "Claude", recognises, read)
