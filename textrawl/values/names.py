"""Names, types and addresses that users write."""

import ipaddress
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
"""Words that a filter takes for a type. `sql/shared/type_words.sql` has them, and many more."""


def read_type(word: str) -> str:
    """Return one of the seven types for its name in any case, or else the word.

    An entity keeps such a word. The database chooses the nearest of the seven types.
    """
    plain = word.lower()
    if plain not in ENTITY_TYPES:
        plain = plain.removesuffix("s")
    return plain if plain in ENTITY_TYPES else word


def read_wanted_type(word: str) -> str:
    """Return the type of a filter: one of the seven, or another word in lower case."""
    plain = word.lower()
    names = (SYNONYMS.get(name, name) for name in (plain, plain.removesuffix("s")))
    return next((name for name in names if name in ENTITY_TYPES), plain)


_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_SHOWN = 40  # characters of a wrong id


def check_id(identity: str, kind: str, form: re.Pattern[str] = _UUID) -> str:
    """Return an id. Raises ValueError if nothing of this `kind` can have it, such as mem-123."""
    if not form.fullmatch(identity):
        raise ValueError(f"there is no {kind} with the id {identity[:_SHOWN]}")
    return identity


_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")


def check_instance(name: str) -> str:
    """Return the id of an instance. Raises ValueError for another text."""
    if not _INSTANCE.fullmatch(name):
        raise ValueError(
            "must be letters, digits and ._:@-, beginning with a letter or digit, at most 100 "
            "characters"
        )
    return name


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine can reach `host`."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # another name
        return False


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
    chosen = space or named
    path = f"{found['before']}/mcp/t/commands" + (f"/{quote(chosen, safe='')}" if chosen else "")
    return parts._replace(path=path, query="", fragment="").geturl()
