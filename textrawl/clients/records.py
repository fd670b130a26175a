"""What `textrawl connect` changed, so that `textrawl disconnect` can take back exactly that.

A record is a file in the user's state folder. It can contain values that were replaced, so only its
owner can read it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from textrawl.clients.addition import Addition
from textrawl.clients.document_values import MISSING
from textrawl.clients.edits import Edit
from textrawl.clients.files import create_folders, read_snapshot, write_file
from textrawl.clients.refusals import FileRefused

_VERSION = 1


@dataclass(frozen=True)
class FileRecord:
    """The edits of one file, in their order.

    `backup` is the copy from before the first edit, and `digest` the SHA-256 of that copy. `mode`
    is the file's mode from before. `folders` were created for the file, the innermost first. A file
    without a `backup` did not exist.
    """

    path: Path
    edits: tuple[Edit, ...]
    backup: Path | None
    digest: str
    mode: int | None
    folders: tuple[Path, ...]


Record = Mapping[Path, FileRecord]
"""The files of a connection, by their paths."""


def locate_record(client: str, project: Path | None) -> Path:
    """Return the path of the record of a client, for its user or for one project."""
    place = f"-{hashlib.sha256(str(project).encode()).hexdigest()[:12]}" if project else ""
    folder = platformdirs.user_state_path("textrawl", appauthor=False)
    return folder / "connections" / f"{client}{place}.json"


def read_record(path: Path) -> Record:
    """Return the record, which is empty if there is none. Raises FileRefused if it is damaged."""
    content = read_snapshot(path).content
    if content is None:
        return {}
    try:
        document = json.loads(content)
        if document["version"] != _VERSION:
            raise FileRefused(f"{path} was written by a newer textrawl")
        files = [_read_file(each) for each in document["files"]]
    except (ValueError, KeyError, TypeError) as error:
        raise FileRefused(f"{path} is damaged: remove it, and edit the client's file") from error
    return {file.path: file for file in files}


def write_record(path: Path, record: Record) -> None:
    """Write the record, or remove it if it has no files."""
    snapshot = read_snapshot(path)
    if not record:
        snapshot.path.unlink(missing_ok=True)
        return
    for folder in create_folders(snapshot.path):
        folder.chmod(0o700)
    document = {"version": _VERSION, "files": [_write_file(file) for file in record.values()]}
    write_file(snapshot, json.dumps(document, indent=1).encode(), private=True)


def _write_file(file: FileRecord) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "edits": [_write_edit(edit) for edit in file.edits],
        "backup": str(file.backup) if file.backup else None,
        "digest": file.digest,
        "mode": file.mode,
        "folders": [str(folder) for folder in file.folders],
    }


def _write_edit(edit: Edit) -> dict[str, Any]:
    addition = edit.addition
    written = {
        "format": addition.format, "keys": [*addition.keys], "value": addition.value,
        "append": addition.append, "path": str(addition.path), "created": edit.created,
        "place": edit.place, "removed": edit.removed, "inserted": edit.inserted,
    }  # fmt: skip
    return written if edit.previous is MISSING else {**written, "previous": edit.previous}


def _read_file(document: Mapping[str, Any]) -> FileRecord:
    return FileRecord(
        Path(document["path"]),
        tuple(_read_edit(edit) for edit in document["edits"]),
        Path(document["backup"]) if document["backup"] else None,
        document["digest"],
        document["mode"],
        tuple(Path(folder) for folder in document["folders"]),
    )


def _read_edit(document: Mapping[str, Any]) -> Edit:
    addition = Addition(
        Path(document["path"]),
        document["format"],
        tuple(document["keys"]),
        document["value"],
        document["append"],
    )
    previous = document.get("previous", MISSING)
    place, removed, inserted = document["place"], document["removed"], document["inserted"]
    return Edit(addition, document["created"], previous, place, removed, inserted)
