"""Transcripts of coding agents: what a person and an agent wrote, in the forms of the clients.

All clients write JSON Lines, each in its own form. Few clients document their form, so a line of an
unknown form is skipped. Results of tools, texts of hooks and slash commands are left out.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast


def drop_elements(text: str, opening: re.Pattern[str], put: str = "") -> str:
    """Replace each element of a text by `put`. An element without an end stays.

    `opening` matches the opening tag. Its first group is the name of the element. The time grows
    with the length of the text: the end of a name is not looked for again after it was missing.
    """
    kept, offset, endless = list[str](), 0, set[str]()
    for tag in opening.finditer(text):
        name = tag[1]
        if tag.start() < offset or name in endless:
            continue
        closing = f"</{name}>"
        end = text.find(closing, tag.end())
        if end < 0:
            endless.add(name)
            continue
        kept += text[offset : tag.start()], put
        offset = end + len(closing)
    return "".join([*kept, text[offset:]])


_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)


def drop_private(text: str) -> str:
    """Leave out what is between <private> and </private>, or the rest if nothing closes it."""
    return _PRIVATE.sub(" ", text)


REMINDER = (
    "textrawl: before this session ends, store what will still matter in later sessions and is "
    "not in the memory yet: decisions and their reasons, preferences, facts about people and "
    "projects. Use remember_fact or build_knowledge, without secrets. If there is nothing, do "
    "nothing, and do not mention this reminder."
)
AFTER_COMPACTION = (
    "textrawl: this conversation was compacted. If the summary holds something that will still "
    "matter in later sessions and is not in the memory yet, store it with remember_fact or "
    "build_knowledge, without secrets. If there is nothing, do nothing, and do not mention this "
    "reminder."
)


def is_reminder(prompt: str) -> bool:
    """Return whether a prompt is a reminder of ours. Some clients send reminders as prompts."""
    return prompt.lstrip().startswith((REMINDER[:60], AFTER_COMPACTION[:40]))


_ADDED = re.compile(
    r"<(hook_context|system-reminder|system_reminder|hook_prompt|timestamp|current_datetime)\b"
    r"[^<>]*+>"
)
_WRAPPER = re.compile(r"</?user_query>")
_OWN = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")  # of Claude Code
# Texts that clients write in a person's name: a slash command, an element with - or _ in its name,
# a lone tag, and a text that is one element. A person can begin with a path, <3 or <T>.
_OF_CLIENT = re.compile(
    r"\[Request interrupted by user|# AGENTS\.md instructions|# Context from my IDE setup"
    r"|/[\w:.-]+(?!\S)|</?[a-zA-Z]+[-_][\w-]*[\s>]|</?[a-z]\w*\b[^<>]*>\Z"
)
_ELEMENT = re.compile(r"<([a-z]\w*)\b")

Json = dict[str, Any]


class Message(NamedTuple):
    """A text and its author: `user` or `assistant`. `at` is its time as the client wrote it."""

    author: str
    text: str
    at: str = ""

    @property
    def key(self) -> str:
        """A short hash of the text."""
        return hashlib.sha256(f"{self.author}\n{self.text}".encode()).hexdigest()[:16]


def read_entry(entry: Json) -> Iterator[Message]:
    """Yield the texts of a line."""
    if any(entry.get(name) for name in _OWN):
        return
    at = entry.get("timestamp")
    for read in _FORMS:
        author, content = read(entry)
        if author in _AUTHORS:
            for text in _read_content(content):
                if cleaned := clean_message(text, _AUTHORS[author]):
                    yield Message(_AUTHORS[author], cleaned, at if isinstance(at, str) else "")
            return


def _read_message(entry: Json) -> tuple[str, object]:
    """Claude Code and Cursor: {"type" or "role": "user", "message": {"content": …}}."""
    message = entry.get("message")
    content = cast("Json", message).get("content") if isinstance(message, dict) else None
    return str(entry.get("role") or entry.get("type")), content


def _read_payload(entry: Json) -> tuple[str, object]:
    """Codex: {"type": "response_item", "payload": {"type": "message", "role": …}}."""
    payload = entry.get("payload")
    if entry.get("type") != "response_item" or not isinstance(payload, dict):
        return "", None
    item = cast("Json", payload)
    return (
        (str(item.get("role")), item.get("content")) if item.get("type") == "message" else ("", 0)
    )


def _read_data(entry: Json) -> tuple[str, object]:
    """Copilot CLI: {"type": "user.message", "data": {"content": …}}."""
    data = entry.get("data")
    if not isinstance(data, dict) or entry.get("agentId"):
        return "", None  # or it is of a sub-agent
    content = cast("Json", data)
    added = content.get("source", "user") != "user" or content.get("isAutopilotContinuation")
    if added or content.get("parentToolCallId"):
        return "", None
    return str(entry.get("type")), content.get("content")


def _read_plain(entry: Json) -> tuple[str, object]:
    """Gemini CLI: {"type": "user" or "gemini", "content": …}."""
    return f"plain {entry.get('type')}" if "content" in entry else "", entry.get("content")


_FORMS: tuple[Callable[[Json], tuple[str, object]], ...] = (
    _read_plain, _read_payload, _read_data, _read_message,
)  # fmt: skip
_AUTHORS = {
    "user": "user", "assistant": "assistant", "plain user": "user", "plain gemini": "assistant",
    "user.message": "user", "assistant.message": "assistant",
}  # fmt: skip


def _read_content(content: object) -> Iterator[str]:
    """Yield the texts of a message, which is a text or a list of parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in cast("list[object]", content):
            text = cast("Json", part).get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                yield text


def clean_message(text: str, author: str = "user") -> str:
    """Return what a person or an agent wrote, or nothing for a text of the client itself."""
    text = _WRAPPER.sub("", drop_elements(drop_private(text), _ADDED)).strip()
    if author != "user":
        return text
    element = _ELEMENT.match(text)
    whole = element is not None and text.endswith(f"</{element[1]}>")
    return "" if whole or _OF_CLIENT.match(text) or is_reminder(text) else text
