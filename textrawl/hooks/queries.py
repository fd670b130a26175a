"""The query for a prompt: the part of it that is likely to say what it is about."""

import re

from textrawl.hooks.added import drop_elements

LONGEST = 500  # characters of a query; a longer one costs time and finds less
_READ = 20_000  # characters that are looked at, at the beginning and at the end of a prompt
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ADDED = re.compile(r"<(hook_context|system-reminder|system_reminder)>")


def write_query(prompt: str) -> str:
    """Return a query of at most 500 characters. It is empty for a slash command.

    Code blocks, and texts that hooks added, are left out. Of a long prompt the beginning and the
    end stay, because a question stands before or after pasted text.
    """
    text = prompt if len(prompt) <= 2 * _READ else f"{prompt[:_READ]} {prompt[-_READ:]}"
    text = drop_elements(text, _ADDED, " ").strip()
    if not text or _is_command(text):
        return ""
    words = " ".join(_CODE.sub(" ", text).split()) or " ".join(text.split())
    return words if len(words) <= LONGEST else _shorten(words)


def _is_command(text: str) -> bool:
    """Return whether a prompt begins with a slash command. A path such as /etc/hosts is none."""
    first = text.split(maxsplit=1)[0]
    return first.startswith("/") and "/" not in first[1:]


def _shorten(text: str) -> str:
    """Return the beginning and the end of a text, which are cut between words if possible."""
    half = (LONGEST - 1) // 2
    beginning, end = text[:half], text[-half:]
    return f"{beginning.rpartition(' ')[0] or beginning} {end.partition(' ')[2] or end}"
