"""The settings of hooks, read without pydantic. A hook with a wrong setting says nothing."""

from collections.abc import Sequence
from typing import NamedTuple

from textrawl.environment import Source, find_value
from textrawl.errors import StartRefused
from textrawl.values.author_choice import read_authors
from textrawl.values.hook_choice import (
    HOOKS,
    LEAST_SCORE,
    RECALL_TOKENS,
    read_hooks,
)
from textrawl.values.limits import DIGEST_TOKENS

_TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})
_DEBUG = "DEBUG"


class Choices(NamedTuple):
    """What the settings allow. Budgets are in tokens, `least_score` is from 0 to 1.

    `authors` is None if the process with the memory decides whose facts a model gets.
    """

    parts: frozenset[str]
    digest_tokens: int
    recall_tokens: int
    least_score: float
    enabled: bool
    read_only: bool
    authors: list[str] | None


def read_choices(sources: Sequence[Source]) -> Choices:
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
        )
    except ValueError as error:
        raise StartRefused(f"A setting of hooks cannot be used: {error}") from error


def wants_log(sources: Sequence[Source]) -> bool:
    """Return whether a hook may write to stderr."""
    return (_find(sources, "log_level") or "").upper() == _DEBUG


def _is_true(sources: Sequence[Source], setting: str, default: str) -> bool:
    return (_find(sources, setting) or default).lower() in _TRUE


def _find(sources: Sequence[Source], setting: str) -> str | None:
    found = find_value(setting, sources)
    return found.text.strip() if found else None
