"""The exports of ChatGPT and of Claude: files of conversations, in a zip or alone.

A conversation of ChatGPT is a tree of messages, because a message can be edited and an answer made
again. Its turns are the path from `current_node` to the root, which is what the person sees. Texts
that the person does not see are left out, and so are tool calls, but for those to `bio`: they are
what ChatGPT remembered of the person.
"""

from collections.abc import Callable, Iterator

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import (
    ImportFormat,
    Record,
    as_list,
    as_text,
    read_parts,
    read_texts,
    walk,
)
from textrawl.archive.items import (
    Conversation,
    Fault,
    ImportedFact,
    ImportedNote,
    Item,
    Speaker,
    Turn,
)

_SEEN = ("text", "multimodal_text")
_PERSON = "User"  # as ChatGPT's memories call the person


def _find_chatgpt_files(bundle: Bundle) -> list[str]:
    """Return the files of conversations. A large export has several: conversations-000.json."""
    names = [name for name in bundle.sizes if name.endswith(".json")]
    own = [name for name in names if name.rpartition("/")[2].startswith("conversations")]
    return sorted(own) or (names if len(names) == 1 else [])


def _is_chatgpt(bundle: Bundle) -> bool:
    """Return whether the files are an export of ChatGPT."""
    heads = [bundle.read_head(name) for name in _find_chatgpt_files(bundle)[:1]]
    return any(b'"mapping"' in head and head.lstrip()[:1] in (b"[", b"{") for head in heads)


def _read_chatgpt(bundle: Bundle) -> Iterator[Item]:
    """Yield the conversations, and what ChatGPT remembered."""
    for name in _find_chatgpt_files(bundle):
        prefix = "" if bundle.read_head(name).lstrip()[:1] == b"{" else "item"
        for place, value in read_parts(bundle, name, "conversation", prefix):
            key, mapping = value.text("conversation_id", "id"), value.part("mapping")
            if not key or not mapping:
                yield Fault(place, "it has no id or no messages")
                continue
            nodes = {one: Record.of(node) for one, node in mapping.items()}
            # Exports of 2023 can lack `current_node`: the last node without children.
            leaves = [one for one, node in nodes.items() if not node.get("children")]
            leaf = value.text("current_node") or (leaves or [""])[-1]
            messages = (node.part("message") for node in walk(nodes, leaf, "parent"))
            turns = [turn for message in messages if (turn := _read_node(message))]
            yield Conversation(key, value.text("title"), turns, value.time("create_time"))
            for one, node in nodes.items():
                message = node.part("message")
                said = "\n".join(read_texts(message.part("content").get("parts"))).strip()
                if message.get("recipient") == "bio" and said:
                    at = message.time("create_time")
                    yield ImportedFact(f"{key}/{one}", _PERSON, said, at, at, note="bio")


def _read_node(message: Record) -> Turn | None:
    speaker, content = message.part("author").get("role"), message.part("content")
    if (
        speaker not in ("user", "assistant")
        or message.get("weight") == 0
        or message.part("metadata").get("is_visually_hidden_from_conversation")
        or message.get("recipient") not in ("all", None)
        or content.get("content_type") not in _SEEN
    ):
        return None
    text = "\n\n".join(filter(None, map(_read_part, as_list(content.get("parts")))))
    return Turn(speaker, text, message.time("create_time")) if text.strip() else None


def _read_part(part: object) -> str:
    """Return the text of a part. Of a voice it is the transcript, and of an image a mark."""
    if isinstance(part, str):
        return part
    value = Record.of(part)
    kind = value.text("content_type").removesuffix("_asset_pointer")
    return value.text("text") or (f"[{kind}]" if kind else "")


_SPEAKERS: dict[str, Speaker] = {"human": "user", "assistant": "assistant"}
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


def _read_claude(bundle: Bundle) -> Iterator[Item]:
    """Yield the conversations, the documents of projects, and what Claude remembers."""
    for name, kind in _find_claude_files(bundle).items():
        for place, value in read_parts(bundle, name, "item"):
            if kind != "memories" and not value.text("uuid"):
                yield Fault(place, "it has no uuid")
            else:
                yield from _READERS[kind](value)


def _read_conversation(value: Record) -> Iterator[Item]:
    messages, leaf = value.parts("chat_messages"), value.text("current_leaf_message_uuid")
    nodes = {one.text("uuid"): one for one in messages}
    chosen = walk(nodes, leaf, "parent_message_uuid") if leaf in nodes else messages
    turns = [turn for message in chosen if (turn := _read_message(message))]
    yield Conversation(value.text("uuid"), value.text("name"), turns, value.time("created_at"))


def _read_message(message: Record) -> Turn | None:
    texts = list(read_texts(message.get("content"))) or [message.text("text")]
    for one in message.parts("attachments"):
        name = one.text("file_name") or "pasted text"
        texts.append(f"[{name}]\n{one.text('extracted_content')}")
    texts += [f"[{one.text('file_name') or 'file'}]" for one in message.parts("files")]
    text = "\n\n".join(filter(None, (text.strip() for text in texts)))
    speaker = _SPEAKERS.get(message.text("sender"))
    return Turn(speaker, text, message.time("created_at")) if speaker and text else None


def _read_project(value: Record) -> Iterator[Item]:
    key, name = value.text("uuid"), value.text("name")
    text = "\n\n".join(filter(None, (value.text("description"), value.text("prompt_template"))))
    if text:
        yield ImportedNote(key, f"Project {name}", text, value.time("updated_at"))
    for one in value.parts("docs"):
        title = f"{one.text('filename')} of the project {name}"
        own = one.text("uuid") or f"{key} {title}"
        yield ImportedNote(own, title, one.text("content"), one.time("created_at"))


def _read_memories(value: Record) -> Iterator[Item]:
    if text := value.text("conversations_memory"):
        yield ImportedNote(f"memory {value.text('account_uuid')}", "Memory of Claude", text)
    for project, text in value.part("project_memories").items():
        yield ImportedNote(f"memory {project}", "Memory of Claude on a project", as_text(text))


_READERS: dict[str, Callable[[Record], Iterator[Item]]] = {
    "conversations": _read_conversation,
    "projects": _read_project,
    "memories": _read_memories,
}

FORMATS = (
    ImportFormat("chatgpt", "ChatGPT", _is_chatgpt, _read_chatgpt),
    ImportFormat("claude", "Claude", lambda one: bool(_find_claude_files(one)), _read_claude),
)
