"""Exports: a memory's contents as JSON Lines from one snapshot, and the files that they go to.

The first line names the format. The last line has the number of lines of each kind. Vectors are
made by the active model, and written as the base64 of little-endian 16-bit floats.
"""

import base64
import json
import os
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, LiteralString

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.memory.key_files import sync
from textrawl.postgres.owner_session import Session
from textrawl.values.text import escape_json

VERSION = 1
KINDS: dict[str, LiteralString] = {
    "space": "spaces",
    "entity": "entities",
    "alias": "aliases",
    "fact": "facts",
    "revision": "revisions",
    "relation": "relations",
    "reflection": "reflections",
    "dismissal": "dismissals",
    "pin": "pins",
    "memory": "memories",
    "link": "links",
    "instance": "instances",
    "document": "documents",
    "version": "versions",
    "snapshot": "snapshots",
    "node": "nodes",
    "edge": "edges",
    "ciphertext": "ciphertexts",
}
"""The kinds of lines in their order, each with its plural, as in export_entities()."""
_OWN = ("entity", "alias", "fact", "relation")
"""Kinds that have an export function of their own, which notes use too."""

Vector = NDArray[np.float16]
Write = Callable[[bytes], object]


class Export:
    """An export. `write` gets each line, and `report` gets the number of facts so far."""

    def __init__(self, session: Session, write: Write, report: Callable[[int], object]) -> None:
        self._session, self._write, self._report = session, write, report
        self.counts = dict.fromkeys(KINDS, 0)

    async def run(self, spaces: Sequence[str] = (), *, with_vectors: bool = False) -> None:
        """Export `spaces`, or all spaces by default. Raises ArgumentInvalid for an unknown name."""
        chosen = await choose_spaces(self._session, spaces)
        active = await self._session.find_model() if with_vectors else None
        number = active.pop("id") if active else None
        head = {"textrawl": "export", "version": VERSION}
        self._write(_write_line(head | ({"model": active} if active else {})))
        for line, _ in [
            row async for page in self._session.read_lines("export_spaces") for row in page
        ]:
            if json.loads(line)["name"] in chosen:
                self._write_row("space", line, None)
        for kind, plural in list(KINDS.items())[1:]:
            function, *more = ("export_" + plural,) if kind in _OWN else ("export_rows", kind)
            for space in chosen.values():
                model = number if kind == "fact" else None
                async for page in self._session.read_lines(function, space, *more, model=model):
                    for line, vector in page:
                        self._write_row(kind, line, vector)
                    self._report(self.counts["fact"])
        self._write(_write_line({"textrawl": "end", **self.counts}))

    def _write_row(self, kind: str, line: str, vector: Any) -> None:
        # Escape the characters that Postgres does not escape: control characters, which change a
        # terminal, and U+2028, at which some readers split lines.
        line = escape_json(line)
        if vector is not None:
            line = f'{line[:-1]},"vector":"{write_vector(vector)}"}}'
        self._write(f"{line}\n".encode())
        self.counts[kind] += 1


async def choose_spaces(session: Session, names: Sequence[str]) -> dict[str, int]:
    """Return the ids of the spaces with these names, or of all. Raises ArgumentInvalid."""
    spaces = await session.find_spaces()
    if unknown := [name for name in names if name not in spaces]:
        raise ArgumentInvalid("see `textrawl space list`", title=f"No space {unknown[0]}")
    return {name: number for name, number in spaces.items() if not names or name in names}


async def write_server_memory(
    session: Session, write: Write, space: str, report: Callable[[int], object]
) -> dict[str, int]:
    """Write the valid facts and relations of a space as a file of the reference memory server.

    Return the numbers of lines. `report` gets the number of entities so far. Raises ArgumentInvalid
    for an unknown space.
    """
    space_id = (await choose_spaces(session, [space]))[space]
    counts = {"entity": 0, "relation": 0}
    functions: dict[str, LiteralString] = {
        "entity": "export_reference_entities",
        "relation": "export_reference_relations",
    }
    for kind, function in functions.items():
        async for page in session.read_lines(function, space_id):
            for line, _ in page:
                write(escape_json(line).encode() + b"\n")
            counts[kind] += len(page)
            report(counts["entity"])
    return counts


def write_vector(vector: Any) -> str:
    """Return a HalfVector as base64."""
    return base64.b64encode(vector.to_numpy().astype("<f2").tobytes()).decode()


def read_vector(text: str, dimensions: int) -> Vector:
    """Return 16-bit floats of shape (dimensions,). Raises ValueError for other texts."""
    vector = np.frombuffer(base64.b64decode(text, validate=True), "<f2")
    if len(vector) != dimensions or not np.isfinite(vector).all() or not vector.any():
        raise ValueError(f"is not a vector of {dimensions} numbers")
    return vector


def _write_line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@contextmanager
def write_whole(file: Path, *, force: bool) -> Generator[Path]:
    """Yield an empty file beside `file`, and rename it to `file` if the block raises no error.

    Raises StartRefused if the file cannot be written, or if `file` exists and `force` is false.
    """
    draft = file.with_name(f"{file.name}.new")
    try:
        refuse_existing(file, force=force)
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
        try:
            yield draft
            sync(draft)
            refuse_existing(file, force=force)
            draft.replace(file)
            sync(file.parent)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StartRefused(
            f"{file} cannot be written: {error.strerror}. Name a file in a folder in which you may "
            "write, on a disk with enough space"
        ) from error


def refuse_existing(file: Path, *, force: bool) -> None:
    """Raise StartRefused if `file` exists, unless `force` allows replacing a file."""
    if file.is_dir() or (os.path.lexists(file) and not force):
        fix = "name a file" if file.is_dir() else "name another file, or add --force to replace it"
        raise StartRefused(f"{file} exists already: {fix}")


LONGEST = 16 << 20  # bytes of a line
_CHUNK = 1 << 18


async def read_lines(
    file: BinaryIO, report: Callable[[int], object]
) -> AsyncGenerator[tuple[int, bytes | None]]:
    """Yield each line with its number from 1, or None for a line longer than LONGEST.

    `report` gets the number of bytes read so far.
    """
    number, rest, skipping, size = 0, b"", False, 0
    while chunk := await to_thread.run_sync(file.read, _CHUNK, abandon_on_cancel=True):
        size += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            number += 1
            yield number, None if skipping else line
            skipping = False
        if len(rest) > LONGEST:
            rest, skipping = b"", True
        report(size)
    if rest or skipping:
        yield number + 1, None if skipping else rest
