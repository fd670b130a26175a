"""The addresses of the memory's resources.

Names in addresses are percent-encoded, so a name can have any character.
"""

from urllib.parse import quote, unquote_to_bytes

from textrawl.values.limits import NAME_LENGTH
from textrawl.values.text import clean_name

ENTITY = "memory://entity/"
HELP = "memory://help/"
_SPACE, _DIGEST = "memory://space/", "/digest"

ENTITY_TEMPLATE = f"{ENTITY}{{name}}"
DIGEST_TEMPLATE = f"{_SPACE}{{name}}{_DIGEST}"
HELP_TEMPLATE = f"{HELP}{{tool}}"

_LONGEST = 12 * NAME_LENGTH  # characters of a name in which each character has four encoded bytes


def write_entity(name: str) -> str:
    """Return the address of an entity."""
    return ENTITY + _encode(name)


def write_digest(space: str) -> str:
    """Return the address of the digest of a space."""
    return f"{_SPACE}{_encode(space)}{_DIGEST}"


def write_help(tool: str) -> str:
    """Return the address of the help of a tool."""
    return HELP + _encode(tool)


def read_entity(uri: str) -> str | None:
    """Return the name of the entity with this address, or None for another address."""
    name = _decode(uri.removeprefix(ENTITY)) if uri.startswith(ENTITY) else None
    return clean_name(name) or None if name else None


def read_digest(uri: str) -> str | None:
    """Return the name of the space whose digest has this address, or None."""
    if not (uri.startswith(_SPACE) and uri.endswith(_DIGEST)):
        return None
    return _decode(uri[len(_SPACE) : -len(_DIGEST)])


def read_help(uri: str) -> str | None:
    """Return the name of the tool whose help has this address, or None."""
    return _decode(uri.removeprefix(HELP)) if uri.startswith(HELP) else None


def _encode(name: str) -> str:
    # Clients would take a name of dots for a relative path.
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def _decode(text: str) -> str | None:
    """Return the decoded name, or None if it is too long or cannot be the name of anything."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        name = unquote_to_bytes(text).decode()
    except UnicodeError:
        return None
    return None if "\0" in name or len(name) > NAME_LENGTH else name
