"""Connecting a client and disconnecting it: which files change, and how."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from textrawl.clients.addition import Addition
from textrawl.clients.edits import Edit, forget, is_made, make, take_back
from textrawl.clients.files import (
    Snapshot,
    back_up,
    create_folders,
    read_snapshot,
    remove_folders,
    write_file,
)
from textrawl.clients.records import FileRecord, Record, locate_record, read_record, write_record
from textrawl.clients.refusals import FileRefused, NotUnderstood


@dataclass(frozen=True)
class Change:
    """A file as it is, and as it is to be. `text` is None if the file is to be removed.

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
class Plan:
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
) -> Plan:
    """Return what makes all `additions`. What an earlier connection added elsewhere goes.

    If `private`, the first addition has a token in it. Raises FileRefused for a file that is not
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
    return Plan(path, record, tuple(changes))


def plan_disconnection(client: str, project: Path | None, additions: Sequence[Addition]) -> Plan:
    """Return what takes back what the record has, and other `additions` by their keys.

    Additions that the record does not have were written by hand, or by a textrawl on another
    machine. Raises FileRefused for a file that is not understood.
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
    return Plan(path, record, tuple(changes))


def find_recorded(client: str, project: Path | None) -> list[Addition]:
    """Return the additions that the record of a client has."""
    record = read_record(locate_record(client, project))
    return [edit.addition for file in record.values() for edit in file.edits]


def carry_out(plan: Plan) -> list[Path]:
    """Write the files of a plan, and return the copies that were made before.

    The record is written first. If writing is interrupted, disconnecting finds less to take back.
    Raises FileRefused.
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
    """Plan a file with what is `wanted`, without other edits of the record, without `unknown`."""
    snapshot = read_snapshot(path)
    try:
        text, kept = _rewrite(snapshot.text, wanted, held.edits if held else ())
        for addition in unknown:
            text = take_back(text, forget(addition))
    except NotUnderstood as error:
        raise _explain(path, error) from error
    created = held is not None and held.backup is None
    is_left = snapshot.content is not None and not (created and _is_empty(text))
    return Change(snapshot, text if kept or is_left else None, kept)


def _is_empty(text: str) -> bool:
    return "".join(text.split()).removeprefix("\ufeff") in ("", "{}")


def _rewrite(
    text: str, wanted: Sequence[Addition], edits: Sequence[Edit]
) -> tuple[str, tuple[Edit, ...]]:
    """Return the text with what is wanted and without other earlier edits, and its edits."""
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


def _explain(path: Path, error: NotUnderstood) -> FileRefused:
    return FileRefused(
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
