"""Shapes of the client's data that the SDK accepts. A test compares them with the SDK."""

from typing import Any, TypeGuard, cast

Members = dict[str, Any]

_ANY: Members = {}
_EACH = "*"  # stands for every member's name
_REQUIRED = "!"  # ends the name of a required member
_NULL = type(None)
_FORBIDDEN = None  # stands for the shape of a member that must not occur
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

_META = {"progressToken": _FORBIDDEN, f"{_OURS}logLevel": _NULL}
_HANDSHAKE = {
    "protocolVersion!": str,
    "capabilities!": _CAPABILITIES,
    "clientInfo!": _CLIENT,
    "_meta": _META,
}
_ENVELOPE = _META | {f"{CAPABILITIES}!": _CAPABILITIES, CLIENT: _CLIENT}


def is_object(value: object) -> TypeGuard[Members]:
    """Return whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_handshake(params: object) -> TypeGuard[Members]:
    """Return whether `params` are usual parameters of `initialize`."""
    return _fits(params, _HANDSHAKE)


def is_envelope(meta: object) -> bool:
    """Return whether `meta` is a usual `_meta` of protocol 2026-07-28. VERSION is not checked."""
    return _fits(meta, _ENVELOPE)


def _fits(value: object, shape: Any) -> bool:
    """Return whether `value` has this shape. A member can be absent or null unless required."""
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
    if shape is _FORBIDDEN:
        return name not in members
    member: object = members.get(name.removesuffix(_REQUIRED))
    return not name.endswith(_REQUIRED) if member is None else _fits(member, shape)
