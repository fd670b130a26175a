"""The setting TEXTRAWL_DIGEST_AUTHORS: whose facts a digest and the hooks give to a model.

The choice is a list: `["all"]`, `["members"]`, or names of authors. Settings and hooks both read
it, and hooks cannot wait until pydantic is loaded.
"""

from collections.abc import Sequence
from typing import Literal

ALL, MEMBERS = "all", "members"
EVERYBODY = (ALL,)


def read_authors(value: str | list[str]) -> list[str]:
    """Return the words of a list with commas. Raises ValueError for a list that has no meaning."""
    given = value.split(",") if isinstance(value, str) else value
    words = [word.strip() for word in given if word.strip()]
    if not words:
        raise ValueError("names nobody: use all, members, or names of authors")
    words = [word.lower() if word.lower() in (ALL, MEMBERS) else word for word in words]
    if len(words) > 1 and (ALL in words or MEMBERS in words):
        raise ValueError("all and members stand alone, without names of authors")
    return list(dict.fromkeys(words))


def includes_everybody(authors: Sequence[str]) -> bool:
    """Return whether no fact is left out."""
    return list(authors) == [ALL]


def build_filter(authors: Sequence[str]) -> dict[Literal["authors", "members"], object]:
    """Return the arguments of SQL functions for this choice. They are empty for all authors."""
    if includes_everybody(authors):
        return {}
    return {"members": True} if list(authors) == [MEMBERS] else {"authors": list(authors)}
