"""Settings as text: the current settings with their sources, or all settings as a `.env` file."""

import re
from collections.abc import Iterable
from textwrap import wrap
from typing import NamedTuple, cast

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from textrawl.environment import Value, write_name
from textrawl.postgres.connection import HIDDEN, show_target
from textrawl.settings import FORMATS, Settings, find_origins

DEFAULT = "default"

_CONNINFOS = frozenset({"database_url", "database_read_url"})
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_INTRODUCTION = """\
Settings of textrawl. textrawl looks for a setting in the environment, in the
file of --env-file, in .env in the working directory, and in .env in the user's
configuration folder (~/.config/textrawl on Linux). It uses the first value that
it finds. The names also work without TEXTRAWL_, such as ENABLE_MEMORY=false.
They do not work without TEXTRAWL_ in the .env of a working directory, because
this file may belong to another program. Only formats and sizes of answers count
there, unless you trust the folder: see `textrawl trust --help`."""


class Row(NamedTuple):
    """A current setting. A secret `value` is masked. `source` is "default" for a default value."""

    name: str
    value: str
    source: str


def list_settings(settings: Settings) -> list[Row]:
    """Return every setting with its value and its source. Secrets are masked.

    Raises StartRefused.
    """
    origins = find_origins()
    return [
        Row(write_name(name), _show_value(name, value), _name_source(name, origins[name]))
        for name, value in settings
    ]


def _name_source(field: str, origin: Value | None) -> str:
    if origin is None:
        return DEFAULT
    bare = origin.name != write_name(field)
    return f"{origin.source}, as {origin.name}" if bare else origin.source


def _show_value(name: str, value: object) -> str:
    if name in _CONNINFOS and isinstance(value, SecretStr):
        return show_target(value.get_secret_value())
    if isinstance(value, SecretStr):
        return HIDDEN
    return _PASSWORD.sub("***", write_value(name, value))


def describe_settings() -> str:
    """Return every setting with its description and default, as the text of a `.env` file."""
    parts: list[Iterable[str]] = [_INTRODUCTION.splitlines()]
    for name, field in Settings.model_fields.items():
        # A default that depends on the machine stays empty.
        default = "" if field.default is PydanticUndefined else write_value(name, field.default)
        parts.append([*wrap(field.description or "", 78), f"{write_name(name)}={default}"])
    return "\n\n".join("\n".join(f"# {line}" for line in part) for part in parts) + "\n"


def write_value(name: str, value: object) -> str:
    """Return the value of a setting as text for the environment. Return "" for None."""
    if name == "compact_responses":
        value = next(word for word, format_ in FORMATS.items() if format_ == value)
    if isinstance(value, list):
        value = ",".join(cast("list[str]", value))
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, float):
        value = f"{value:g}"
    return "" if value is None else str(value)
