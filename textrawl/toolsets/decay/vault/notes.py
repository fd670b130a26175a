"""A Markdown note with front matter: YAML between two lines of three hyphens."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import yaml

_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE
)
_MOST_FRONT_MATTER = 20_000  # characters, which limits nesting; a longer one belongs to the body


@dataclass(frozen=True)
class Note:
    """A note: its front matter, where each value is text or a list of texts, and its body."""

    fields: Mapping[str, str | list[str]]
    body: str

    @property
    def title(self) -> str | None:
        """The title in the front matter."""
        title = self.fields.get("title")
        return title if isinstance(title, str) and title.strip() else None

    @property
    def tags(self) -> list[str]:
        """The tags in the front matter, without the mark # and in lower case."""
        tags = self.fields.get("tags", [])
        listed = re.split(r"[,\s]+", tags) if isinstance(tags, str) else tags
        return [tag.lstrip("#").lower() for tag in listed if tag.strip("# ")]


def read_note(text: str) -> Note:
    """Return the note that a text holds. Front matter that is not YAML belongs to the body."""
    found = _FRONT_MATTER.match(text[:_MOST_FRONT_MATTER])
    if found is None:
        return Note({}, text.strip())
    try:
        # This loader makes only texts, so a wrong date is not an error.
        value: Any = yaml.load(found[1], Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return Note({}, text.strip())
    fields = cast("dict[object, object]", value) if isinstance(value, dict) else {}
    return Note(
        {str(key): kept for key, one in fields.items() if (kept := _keep_texts(one)) is not None},
        text[found.end() :].strip(),
    )


def write_note(fields: Mapping[str, object], body: str) -> str:
    """Return the text of a note. Fields without a value are left out."""
    kept = {key: value for key, value in fields.items() if value not in (None, "", [], {})}
    front = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{front}---\n\n{body.strip()}\n"


def _keep_texts(value: object) -> str | list[str] | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [item for item in cast("list[object]", value) if isinstance(item, str)]
    return None
