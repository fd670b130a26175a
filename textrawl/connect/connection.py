"""Connecting and disconnecting a client: the plan, the files, and the record of edits."""

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs

from textrawl.connect.clients import Addition
from textrawl.connect.edits import MISSING, Edit, guess_edit, is_made, make, take_back
from textrawl.connect.json_edits import EditRefused, NotUnderstood

_BACKUP = ".textrawl-backup"
_PRIVATE = 0o600
_LARGEST = 64 << 20  # bytes: a configuration is smaller


@dataclass(frozen=True)
class Snapshot:
    """A file at one moment. If there is no file, `content` and `mode` are None."""

    path: Path
    content: bytes | None
    mode: int | None

    @property
    def text(self) -> str:
        """The content. A byte order mark is part of it. Raises EditRefused if it is not UTF-8."""
        try:
            return (self.content or b"").decode()
        except UnicodeDecodeError as error:
            raise EditRefused(f"{self.path} was not changed: it is not UTF-8") from error


def read_snapshot(path: Path) -> Snapshot:
    """Return the file at `path`, or the file that a link at `path` leads to.

    Raises EditRefused for anything but a regular file, and if it cannot be read.
    """
    target = path.expanduser().resolve()
    try:
        status = target.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise EditRefused(
                f"{path} was not changed: it is not a regular file, or it has more than 64 MB"
            )
        return Snapshot(target, target.read_bytes(), stat.S_IMODE(status.st_mode))
    except FileNotFoundError:
        return Snapshot(target, None, None)
    except OSError as error:
        raise EditRefused(f"{path} cannot be read: {error.strerror}") from error


def write_file(
    snapshot: Snapshot, content: bytes, *, private: bool, mode: int | None = None
) -> None:
    """Replace the file by `content` in one step. It keeps its owner and, without `mode`, its mode.

    A `private` file can then be read by its owner only. Raises EditRefused if the file has changed
    since `snapshot`, or cannot be written.
    """
    path = snapshot.path
    if read_snapshot(path).content != snapshot.content:
        raise EditRefused(f"{path} was not changed: another program has just written it. Try again")
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _copy_rights(file.fileno(), snapshot, private=private, mode=mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError as error:
        raise EditRefused(f"{path} cannot be written: {error.strerror}") from error
    finally:
        Path(name).unlink(missing_ok=True)


def _copy_rights(descriptor: int, snapshot: Snapshot, *, private: bool, mode: int | None) -> None:
    if snapshot.mode is not None:
        status = snapshot.path.stat()
        with contextlib.suppress(PermissionError):  # the file of another user in a shared folder
            os.fchown(descriptor, status.st_uid, status.st_gid)
    if not (usual := mode or snapshot.mode):
        mask = os.umask(0o077)  # the only way to read it
        os.umask(mask)
        usual = 0o666 & ~mask
    os.fchmod(descriptor, usual & _PRIVATE if private else usual)


def create_folders(path: Path) -> list[Path]:
    """Create the folders above `path`, and return the new ones, the innermost first."""
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EditRefused(f"{path.parent} cannot be created: {error.strerror}") from error
    return missing


def remove_folders(folders: list[Path]) -> None:
    """Remove folders, the innermost first, as far as they are empty."""
    for folder in folders:
        with contextlib.suppress(OSError):  # it is gone, or other files are in it
            folder.rmdir()


def back_up(snapshot: Snapshot) -> Path | None:
    """Copy the unchanged file to its own folder, and return the path of the copy.

    A file that has the name of the copy already is not overwritten: the copy then gets a number.
    """
    if snapshot.content is None or snapshot.mode is None:
        return None
    number = 0
    while True:
        suffix = f"{_BACKUP}{f'-{number}' if number else ''}"
        path = snapshot.path.with_name(snapshot.path.name + suffix)
        held = read_snapshot(path)
        if held.content == snapshot.content:
            return path
        if held.content is None:
            write_file(
                Snapshot(path, None, None), snapshot.content, private=False, mode=snapshot.mode
            )
            return path
        number += 1


_VERSION = 1
_DIGEST = 12  # characters in the name of the record of a project


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
    place = f"-{hashlib.sha256(str(project).encode()).hexdigest()[:_DIGEST]}" if project else ""
    return find_records_folder() / f"{client}{place}.json"


def find_records_folder() -> Path:
    """Return the folder of all records of this user."""
    return platformdirs.user_state_path("textrawl", appauthor=False) / "connections"


def list_project_records() -> list[tuple[str, Path]]:
    """Return the client and the file of each connection of a project. Raises EditRefused."""
    paths = sorted(find_records_folder().glob(f"*-{'[0-9a-f]' * _DIGEST}.json"))
    return [(path.stem[: -_DIGEST - 1], file) for path in paths for file in read_record(path)]


def read_record(path: Path) -> Record:
    """Return the record, which is empty if there is none. Raises EditRefused if it is damaged."""
    content = read_snapshot(path).content
    if content is None:
        return {}
    try:
        document = json.loads(content)
        if document["version"] != _VERSION:
            raise EditRefused(f"{path} was written by a newer textrawl")
        files = [_read_file(each) for each in document["files"]]
    except (ValueError, KeyError, TypeError) as error:
        raise EditRefused(f"{path} is damaged: remove it, and edit the client's file") from error
    return {file.path: file for file in files}


def write_record(path: Path, record: Record) -> None:
    """Write the record, or remove it if it has no files."""
    snapshot = read_snapshot(path)
    if not record:
        snapshot.path.unlink(missing_ok=True)
        return
    for folder in create_folders(snapshot.path):
        folder.chmod(0o700)
    files = [
        {**vars(file), "edits": [_write_edit(edit) for edit in file.edits]}
        for file in record.values()
    ]
    document = json.dumps({"version": _VERSION, "files": files}, indent=1, default=str)
    write_file(snapshot, document.encode(), private=True)


def _write_edit(edit: Edit) -> dict[str, Any]:
    members = {**vars(edit.addition), **vars(edit)}
    del members["addition"]
    return {name: value for name, value in members.items() if value is not MISSING}


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


@dataclass(frozen=True)
class Change:
    """A planned change of a file: `text` is the new content, or None to remove the file.

    `edits` are the edits that disconnecting takes back. A `private` file has a token in it.
    """

    snapshot: Snapshot
    text: str | None
    edits: tuple[Edit, ...]
    private: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether the file changes."""
        before = self.snapshot.content
        return before != (None if self.text is None else self.text.encode())


@dataclass(frozen=True)
class ConfigurationPlan:
    """The changes of all files of a client, and where they are recorded."""

    record_path: Path
    record: Record
    changes: tuple[Change, ...]

    @property
    def needed(self) -> list[Change]:
        """The changes of files that do change."""
        return [change for change in self.changes if change.is_needed]

    @property
    def is_recorded(self) -> bool:
        """Whether the record has the edits of this plan already."""
        held = {path: file.edits for path, file in self.record.items()}
        planned = {change.snapshot.path: change.edits for change in self.changes if change.edits}
        return held == planned


def plan_connection(
    client: str, project: Path | None, additions: Sequence[Addition], *, private: bool = False
) -> ConfigurationPlan:
    """Plan to make all `additions`, and to remove what an earlier connection added elsewhere.

    If `private`, the first addition has a token in it. Raises EditRefused for a file that is not
    understood.
    """
    path = locate_record(client, project)
    record = read_record(path)
    wanted = _group(additions)
    changes = [
        _plan_file(file, wanted.get(file, ()), record.get(file))
        for file in dict.fromkeys([*wanted, *record])
    ]
    if private:
        changes[0] = replace(changes[0], private=True)
    return ConfigurationPlan(path, record, tuple(changes))


def plan_disconnection(
    client: str, project: Path | None, additions: Sequence[Addition]
) -> ConfigurationPlan:
    """Plan to take back the edits of the record, and to remove other `additions` by their keys.

    Additions that the record does not have were written by hand, or by a textrawl on another
    machine. Raises EditRefused for a file that is not understood.
    """
    path = locate_record(client, project)
    record = read_record(path)
    known = {(edit.addition.keys, file) for file, held in record.items() for edit in held.edits}
    others = {
        file: [addition for addition in each if (addition.keys, file) not in known]
        for file, each in _group(additions).items()
    }
    changes = [
        _plan_file(file, (), record.get(file), others.get(file, ()))
        for file in dict.fromkeys([*record, *others])
    ]
    return ConfigurationPlan(path, record, tuple(changes))


def find_recorded(client: str, project: Path | None) -> list[Addition]:
    """Return the additions that the record of a client has."""
    record = read_record(locate_record(client, project))
    return [edit.addition for file in record.values() for edit in file.edits]


def carry_out(plan: ConfigurationPlan) -> list[Path]:
    """Write the files of a plan, and return the copies that were made before.

    The record is written first. If writing is interrupted, it has every edit that was made.
    Raises EditRefused.
    """
    record = dict(plan.record)
    for change in plan.changes:
        _record(record, change)
    write_record(plan.record_path, {path: file for path, file in record.items() if file.edits})
    for change in plan.needed:
        _write(change, plan.record.get(change.snapshot.path))
    for path, file in record.items():
        if not file.edits:
            _clean(path, file)
    return [file.backup for file in record.values() if file.edits and file.backup]


def _group(additions: Iterable[Addition]) -> dict[Path, tuple[Addition, ...]]:
    grouped = dict[Path, tuple[Addition, ...]]()
    for addition in additions:
        path = read_snapshot(addition.path).path
        grouped[path] = (*grouped.get(path, ()), addition)
    return grouped


def _plan_file(
    path: Path,
    wanted: Sequence[Addition],
    held: FileRecord | None,
    unknown: Sequence[Addition] = (),
) -> Change:
    """Plan to add all `wanted`, and to remove other recorded edits and the `unknown` ones."""
    snapshot = read_snapshot(path)
    try:
        text, kept = _rewrite(snapshot.text, wanted, held.edits if held else ())
        for addition in unknown:
            text = take_back(text, guess_edit(addition))
    except NotUnderstood as error:
        raise _explain(path, error) from error
    created = held is not None and held.backup is None
    is_empty = "".join(text.split()).removeprefix("\ufeff") in ("", "{}")
    is_left = snapshot.content is not None and not (created and is_empty)
    return Change(snapshot, text if kept or is_left else None, kept)


def _rewrite(
    text: str, wanted: Sequence[Addition], edits: Sequence[Edit]
) -> tuple[str, tuple[Edit, ...]]:
    """Return the text with all that is wanted, after other `edits` were taken back.

    The second value has the edits that disconnecting takes back from this text.
    """
    if all(is_made(text, addition) for addition in wanted) and all(
        edit.addition in wanted for edit in edits
    ):
        return text, tuple(edits)
    for edit in reversed(edits):
        text = take_back(text, edit)
    made = list[Edit]()
    for addition in wanted:
        if not is_made(text, addition):
            text, edit = make(text, addition)
            made.append(edit)
    return text, tuple(made)


def _explain(path: Path, error: NotUnderstood) -> EditRefused:
    return EditRefused(
        f"{path} was not changed, because it is not understood ({error}). Correct it, or edit it "
        "by hand: `textrawl connect CLIENT --print` shows the entry"
    )


def _record(record: dict[Path, FileRecord], change: Change) -> None:
    """Put a change into the record. The copy from before the first connection is kept.

    A file that somebody has removed since then counts as a new one.
    """
    path, snapshot = change.snapshot.path, change.snapshot
    if path in record and (snapshot.content is not None or not change.edits):
        record[path] = replace(record[path], edits=change.edits)
    elif change.edits:
        folders = create_folders(path)
        backup = back_up(snapshot)
        digest = _hash(snapshot.content or b"")
        record[path] = FileRecord(path, change.edits, backup, digest, snapshot.mode, tuple(folders))


def _write(change: Change, held: FileRecord | None) -> None:
    if change.text is None:
        change.snapshot.path.unlink(missing_ok=True)
        return
    mode = held.mode if held and not change.edits else None
    write_file(change.snapshot, change.text.encode(), private=change.private, mode=mode)


def _clean(path: Path, file: FileRecord) -> None:
    """Remove what a connection left beside a file: the copy, and folders that are empty."""
    if file.backup and _hash(read_snapshot(file.backup).content or b"") == file.digest:
        file.backup.unlink()
    if not path.exists():
        remove_folders([*file.folders])


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_entry(addition: Addition) -> str:
    """Return a file that has only this addition, in the format of the client."""
    text, _ = make("", addition)
    return text.rstrip("\n")
