"""Descriptions of a setting's allowed values, for people."""

from collections.abc import Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

# For settings whose type does not show the allowed values.
_CHOICES = {
    "compact_responses": "true, false or lines",
    "digest_authors": "all, members, or names of authors with commas between them",
    "public_url": "an address such as https://memory.example.com, without a path",
    "server_url": "an address such as https://memory.example.com/mcp",
    "access_token_file": "a file with a name in UTF-8; ~ stands for your home folder",
    "data_dir": "a folder with a name in UTF-8; ~ stands for your home folder",
    "vault": "a folder with a name in UTF-8; ~ stands for your home folder",
}


def describe_choice(name: str, field: FieldInfo) -> str:
    """Return the allowed values of a setting in words, such as "true or false"."""
    if name in _CHOICES:
        return _CHOICES[name]
    kind: Any = field.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is Literal:
        return join_choices(get_args(kind))
    if kind is bool:
        return "true or false"
    if kind in (int, float):
        return _describe_number(field, "a whole number" if kind is int else "a number")
    return "text in UTF-8 that is not empty"


def join_choices(words: Sequence[str]) -> str:
    """Return alternatives in words, such as "on, off or auto"."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _describe_number(field: FieldInfo, noun: str) -> str:
    limits: dict[str, float] = {
        name: getattr(limit, name)
        for limit in field.metadata
        for name in ("ge", "gt", "le")
        if hasattr(limit, name)
    }
    most = limits.get("le")
    if "ge" in limits:
        end = f" to {most:,}" if most is not None else " up"
        return f"{noun} from {limits['ge']:,}{end}"
    if "gt" in limits:
        end = f", at most {most:,}" if most is not None else ""
        return f"{noun} above {limits['gt']:,}{end}"
    return noun
