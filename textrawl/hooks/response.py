"""The text that a hook gives the model at an event: digest, facts, a reminder, or nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textrawl.environment import ValueSource, find_value
from textrawl.errors import StartRefused
from textrawl.hooks.events import Event, HookClient, Payload
from textrawl.hooks.sessions import HookSession
from textrawl.hooks.transcripts import FRAME_TOKENS, Ask, capture, has_stored, read_texts
from textrawl.values.leaks import mask_secrets
from textrawl.values.text import (
    DIGEST_TOKENS,
    LEAST_TOKENS,
    NAME_LENGTH,
    PROMPT_LENGTH,
    drop_fences,
    frame_digest,
    frame_facts,
)
from textrawl.values.transcripts import (
    AFTER_COMPACTION,
    REMINDER,
    drop_elements,
    drop_private,
    is_reminder,
)
from textrawl.values.word_lists import (
    HOOKS,
    LEAST_SCORE,
    RECALL_TOKENS,
    SecretMode,
    read_authors,
    read_hooks,
    read_mode,
)

_ADDED = re.compile(r"<(hook_context|system-reminder|system_reminder)>")


def write_query(prompt: str) -> str:
    """Return what a search can answer. It is empty for a slash command.

    Private parts, code blocks, and texts that hooks added, are left out. Of a prompt that is longer
    than a query can be, the beginning and the end stay. The process with the memory condenses the
    rest.
    """
    text = drop_elements(drop_private(prompt), _ADDED, " ").strip()
    if not text or _is_command(text):
        return ""
    text = drop_fences(text).strip() or text
    half = (PROMPT_LENGTH - 1) // 2
    return text if len(text) <= PROMPT_LENGTH else f"{text[:half]}\n{text[-half:]}"


def _is_command(text: str) -> bool:
    """Return whether a prompt begins with a slash command. A path such as /etc/hosts is none."""
    first = text.split(maxsplit=1)[0]
    return first.startswith("/") and "/" not in first[1:]


_WORKTREES = "/.git/worktrees/"
_LONGEST = 4096  # bytes of a `.git` file


def name_project(folder: Path) -> str:
    """Return the name of the folder that holds the Git repository, or of `folder` itself.

    A linked worktree has the name of the repository to which it belongs.
    """
    for parent in (folder, *folder.parents):
        entry = parent / ".git"
        if entry.is_dir():
            return parent.name
        if entry.is_file():
            return _name_repository(entry) or parent.name
    return folder.name


def _name_repository(entry: Path) -> str:
    """Return the name of the repository to which a `.git` file of a worktree points."""
    with entry.open("rb") as file:
        text = file.read(_LONGEST).decode(errors="replace")
    repository, found, _ = text.partition(_WORKTREES)
    return Path(repository).name if found else ""


_TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})
_DEBUG = "DEBUG"


class Choices(NamedTuple):
    """The choices that the settings make. Budgets are in tokens, `least_score` is from 0 to 1.

    `authors` is None if the process with the memory decides whose facts a model gets.
    """

    parts: frozenset[str]
    digest_tokens: int
    recall_tokens: int
    least_score: float
    enabled: bool
    read_only: bool
    authors: list[str] | None
    secrets: SecretMode


def read_choices(sources: Sequence[ValueSource]) -> Choices:
    """Return the settings. Raises StartRefused for a value that cannot be used."""
    hooks, authors = _find(sources, "hooks"), _find(sources, "digest_authors")
    try:
        return Choices(
            frozenset(HOOKS if hooks is None else read_hooks(hooks)),
            int(_find(sources, "digest_tokens") or DIGEST_TOKENS),
            int(_find(sources, "hook_recall_tokens") or RECALL_TOKENS),
            float(_find(sources, "hook_least_score") or LEAST_SCORE),
            _is_true(sources, "enable_memory", "true"),
            _is_true(sources, "read_only", "false"),
            None if authors is None else read_authors(authors),
            read_mode(_find(sources, "secrets")),
        )
    except ValueError as error:
        raise StartRefused(f"A setting of hooks cannot be used: {error}") from error


def wants_log(sources: Sequence[ValueSource]) -> bool:
    """Return whether a hook may write to stderr."""
    return (_find(sources, "log_level") or "").upper() == _DEBUG


def _is_true(sources: Sequence[ValueSource], setting: str, default: str) -> bool:
    return (_find(sources, setting) or default).lower() in _TRUE


def _find(sources: Sequence[ValueSource], setting: str) -> str | None:
    found = find_value(setting, sources)
    return found.text.strip() if found else None


REMIND_AFTER = 3  # prompts; a shorter session seldom has anything to store
_MOST_FACTS = 10
_LONGEST_NAME = 12  # characters of a name that is said to be unknown: even in CJK, six tokens


class Occasion(NamedTuple):
    """An event of a session, and what is needed to answer it. `ask` asks the open memory."""

    client: HookClient
    event: Event
    payload: Payload
    choices: Choices
    session: HookSession
    ask: Ask


def respond(occasion: Occasion) -> str:
    """Return the text for the model. It is empty if there is nothing to say.

    Raises OSError and what `ask` raises.
    """
    if occasion.payload.transcript:
        _note_transcript(occasion)
    text = _RESPONSES[occasion.event.kind](occasion)
    if "capture" in occasion.choices.parts or occasion.session.read().texts:
        occasion.session.mark(going_on=occasion.event.kind != "end")
    return text


def _start(occasion: Occasion) -> str:
    compacted = occasion.payload.compacted
    if compacted:
        occasion.session.add("compacted")
    texts = [_digest(occasion)] if "digest" in occasion.choices.parts else []
    if compacted and _may_remind(occasion):
        texts.append(AFTER_COMPACTION)
    return "\n\n".join(filter(None, texts))


def _answer_prompt(occasion: Occasion) -> str:
    if is_reminder(occasion.payload.prompt):
        return ""
    occasion.session.add("turn")
    texts = [_recall(occasion)] if "recall" in occasion.choices.parts else []
    if occasion.client.reminds_at_prompt:
        texts.append(_remind(occasion))
    return "\n\n".join(filter(None, texts))


def _compact(occasion: Occasion) -> str:
    occasion.session.add("compacted")
    return _finish(occasion)


def _stop(occasion: Occasion) -> str:
    if occasion.payload.continued:
        return ""
    if not any(event.kind == "prompt" for event in occasion.client.events):
        occasion.session.add("turn")
    return _remind(occasion)


def _finish(occasion: Occasion) -> str:
    transcript = occasion.session.read().transcript
    if "capture" in occasion.choices.parts and not occasion.choices.read_only and transcript:
        project = name_project(occasion.payload.folder)
        names = (project, occasion.client.name)
        mode = occasion.choices.secrets
        capture(occasion.session, read_texts(Path(transcript)), names, mode, occasion.ask)
    return ""


_RESPONSES: Mapping[str, Callable[[Occasion], str]] = {
    "start": _start, "prompt": _answer_prompt, "compact": _compact, "stop": _stop, "end": _finish,
}  # fmt: skip


def _digest(occasion: Occasion) -> str:
    arguments = {"project": name_project(occasion.payload.folder)[:NAME_LENGTH]}
    tokens = occasion.choices.digest_tokens
    return _ask_for_facts(occasion, "digest", arguments, tokens, frame_digest)


def _recall(occasion: Occasion) -> str:
    query = write_query(occasion.payload.prompt)
    if query and occasion.choices.secrets != "allow":  # a search sends it to the embedding provider
        query = mask_secrets(query).text[:PROMPT_LENGTH]
    if not query:
        return ""
    arguments = {
        "mode": "search",
        "query": query,
        "limit": _MOST_FACTS,
        "minScore": occasion.choices.least_score,
    }
    tokens = occasion.choices.recall_tokens
    return _ask_for_facts(occasion, "query_memory", arguments, tokens, frame_facts)


def _ask_for_facts(
    occasion: Occasion,
    tool: str,
    arguments: Mapping[str, Any],
    tokens: int,
    frame: Callable[[str, bytes], str],
) -> str:
    """Return facts that the session does not have yet, in a frame, and note that it has them now.

    Without facts, return a name in the prompt that no fact has, in at most ten tokens.
    """
    budget = tokens - FRAME_TOKENS
    if budget < LEAST_TOKENS:
        return ""
    wishes = {
        "known": sorted(occasion.session.read().known),
        "authors": occasion.choices.authors,
    }
    answer = occasion.ask(tool, {**arguments, "maxTokens": budget}, wishes)
    if answer is None or not answer.ids:
        names: list[str] = answer.content.get("missing", []) if answer is not None else []
        short = (name for name in names if len(name) <= _LONGEST_NAME)
        return next((f"textrawl: no fact has {name}" for name in short), "")
    if not answer.text:
        return ""
    occasion.session.add_given(occasion.event.kind, answer.tokens + FRAME_TOKENS, answer.ids)
    return frame(answer.text, occasion.session.read_key())


def _remind(occasion: Occasion) -> str:
    """Return the reminder, once a session, unless the agent has already stored something."""
    state = occasion.session.read()
    if state.reminded or state.turns < REMIND_AFTER or not _may_remind(occasion):
        return ""
    occasion.session.add("reminded")
    return "" if state.transcript and _has_stored(state.transcript) else REMINDER


def _may_remind(occasion: Occasion) -> bool:
    return "remind" in occasion.choices.parts and not occasion.choices.read_only


def _has_stored(transcript: str) -> bool:
    path = Path(transcript)
    return path.is_file() and has_stored(path)


def _note_transcript(occasion: Occasion) -> None:
    path = occasion.payload.transcript
    if "\n" not in path and path != occasion.session.read().transcript:
        occasion.session.add(f"transcript {path}")
