"""What a client says of itself, as far as the SDK would accept it; a test compares the two."""

from typing import Any, TypeGuard, cast

Members = dict[str, Any]

_ANY: Members = {}
_EACH = "*"  # in place of the names of members
_MUST = "!"  # behind the name of a member that has to be there
_NULL = type(None)
_AWAY = None  # in place of the shape of a member that must not be there
_CLIENT = {
    "name!": str, "version!": str, "title": str, "description": str, "websiteUrl": str,
    "icons": [{"src!": str, "mimeType": str, "sizes": [str], "theme": _NULL}],
}  # fmt: skip
_CAPABILITIES = {
    "elicitation": {"form": _ANY, "url": _ANY},
    "experimental": {_EACH: _ANY},
    "extensions": {_EACH: _ANY},
    "roots": {"listChanged": bool},
    "sampling": {"context": _ANY, "tools": _ANY},
    "tasks": {
        "list": _ANY, "cancel": _ANY,
        "requests": {"sampling": {"createMessage": _ANY}, "elicitation": {"create": _ANY}},
    },
}  # fmt: skip
_OURS = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, CLIENT = (
    f"{_OURS}{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
"""The names of three members of `_meta`."""

_META = {"progressToken": _AWAY, f"{_OURS}logLevel": _NULL}
_HANDSHAKE = {
    "protocolVersion!": str, "capabilities!": _CAPABILITIES, "clientInfo!": _CLIENT, "_meta": _META
}  # fmt: skip
_ENVELOPE = _META | {f"{CAPABILITIES}!": _CAPABILITIES, CLIENT: _CLIENT}


def is_object(value: object) -> TypeGuard[Members]:
    """Whether it is a JSON object."""
    return isinstance(value, dict)


def is_handshake(params: object) -> TypeGuard[Members]:
    """Whether these are plain parameters of `initialize`."""
    return _fits(params, _HANDSHAKE)


def is_envelope(meta: object) -> bool:
    """Whether this is the plain `_meta` of a request of 2026-07-28, its version left aside."""
    return _fits(meta, _ENVELOPE)


def _fits(value: object, shape: Any) -> bool:
    """Whether `value` has this shape; members are absent or null unless they must be there."""
    if isinstance(shape, type):
        return isinstance(value, shape)
    if isinstance(shape, list):
        [inner] = cast("list[Any]", shape)
        items = cast("list[object]", value) if isinstance(value, list) else [None]
        return all(_fits(item, inner) for item in items)
    if not is_object(value):
        return False
    if _EACH in shape:
        return all(_fits(member, shape[_EACH]) for member in value.values())
    return all(_has(value, name, inner) for name, inner in shape.items())


def _has(members: Members, name: str, shape: Any) -> bool:
    if shape is _AWAY:
        return name not in members
    member: object = members.get(name.removesuffix(_MUST))
    return not name.endswith(_MUST) if member is None else _fits(member, shape)
