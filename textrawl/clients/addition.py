"""A value that textrawl adds to the configuration file of a client program."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

FileFormat = Literal["json", "jsonc", "toml"]
"""The format of a file. `json` is strict: without comments and without trailing commas."""


@dataclass(frozen=True)
class Addition:
    """A value and its place in a file.

    `path` may begin with `~`. `keys` leads from the root of the document to the place: objects on
    the way are created. Without `append` the value stands at the last key. With `append` the last
    key holds a list, and the value is a new element at its end. `value` is plain JSON data.
    """

    path: Path
    format: FileFormat
    keys: tuple[str, ...]
    value: object
    append: bool = False
