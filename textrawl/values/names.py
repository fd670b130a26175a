"""Names and types that users write."""

import re
from typing import Literal, get_args
from urllib.parse import SplitResult, quote, unquote, urlsplit

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


_ENDPOINT = re.compile(r"(?P<before>.*)/mcp(?:/t/[^/]+)?(?:/(?P<space>[^/]+))?/*")


def write_commands_address(url: str, space: str | None) -> str:
    """Return the address at which the server of `url` runs the operations of commands.

    With `space`, only in this space. Raises ValueError if `url` is not that of an MCP endpoint, or
    names another space.
    """
    parts = read_server_address(url)
    found = _ENDPOINT.fullmatch(parts.path)
    if found is None:
        raise ValueError("write an address that ends with /mcp, or with /mcp/ and a space")
    named = found["space"] and unquote(found["space"])
    if space is not None and named not in (None, space):
        raise ValueError(f"it already names the space {named}: end it with /mcp")
    place = space or named
    path = f"{found['before']}/mcp/t/commands" + (f"/{quote(place, safe='')}" if place else "")
    return parts._replace(path=path, query="", fragment="").geturl()
