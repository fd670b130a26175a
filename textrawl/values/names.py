"""Names and types that users write."""

import re
from typing import Literal, get_args
from urllib.parse import SplitResult, quote, urlsplit

EntityKind = Literal[
    "person", "concept", "project", "preference", "fact", "location", "organization"
]
ENTITY_TYPES: tuple[str, ...] = get_args(EntityKind)
SYNONYMS: dict[str, str] = {
    "people": "person", "human": "person", "individual": "person", "user": "person",
    "company": "organization", "companies": "organization", "organisation": "organization",
    "org": "organization", "corporation": "organization", "business": "organization",
    "institution": "organization", "university": "organization",
    "place": "location", "city": "location", "country": "location", "region": "location",
    "idea": "concept", "topic": "concept",
    "repository": "project", "repo": "project", "codebase": "project",
}  # fmt: skip
"""Words with exactly one entity type. An argument with another word is refused.

The graph toolset accepts every word as a type, and `sql/shared/nearest_type.sql` guesses the entity
type. It contains these synonyms and further words. A test compares both lists.
"""


def name_type(value: object) -> object:
    """Return the entity type for a name or synonym in any case, or else `value` unchanged."""
    word = str(value).strip().lower()
    for name in (word, word.removesuffix("s")):
        if (name := SYNONYMS.get(name, name)) in ENTITY_TYPES:
            return name
    return value


_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")


def check_instance(name: str) -> str:
    """Return the id of an instance. Raises ValueError for another text."""
    if not _INSTANCE.fullmatch(name):
        raise ValueError(
            "must be letters, digits and ._:@-, beginning with a letter or digit, at most 100 "
            "characters"
        )
    return name


_PATH = "/mcp"


def read_server_address(url: str) -> SplitResult:
    """Return the parts of the address of the MCP endpoint. A host alone stands for its path /mcp.

    Raises ValueError for an address that is not of HTTP or names no host.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("write an address such as https://memory.example.com/mcp")
    return parts if parts.path.strip("/") else parts._replace(path=_PATH)


def write_space_address(url: str, space: str) -> str:
    """Return the address of a space of the server at `url`.

    Raises ValueError if the address already names a space or a toolset.
    """
    parts = urlsplit(url)
    if parts.path.rstrip("/") not in ("", _PATH):
        raise ValueError("it already names a space or a toolset: end it with /mcp")
    return parts._replace(path=f"{_PATH}/{quote(space, safe='')}").geturl()
