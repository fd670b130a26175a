"""The operations of the `identity` toolset: they call SQL functions.

They read and write only the caller's home space.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid
from textrawl.postgres.sqlstates import FILE_CHANGED, DataRefused
from textrawl.scheduling.workers import run_apart, run_aside
from textrawl.store.store import Store
from textrawl.toolsets.identity.rows import (
    DeletedRow,
    FileRow,
    LabelledRow,
    RestoredRow,
    SnapshotIdRow,
    SnapshotRow,
    WrittenRow,
)
from textrawl.values.section import SectionRefused

_ATTEMPTS = 20  # to change a section, while others change the same file
_LONG = 50_000  # characters: finding the headings of a longer text can take a second

Edit = Callable[[str, str, str], str]
"""A function of a text, the name of a section and a content. It returns the changed text."""


@dataclass(frozen=True)
class File:
    """The name of an identity file, and the instance that changes it."""

    category: str
    filename: str
    instance: str | None = None

    @property
    def path(self) -> str:
        """The name of the file with its category."""
        return f"{self.category}/{self.filename}"


class IdentityOperations:
    """The identity files of one space."""

    def __init__(self, store: Store) -> None:
        self._call = store.database.call

    async def read(
        self,
        caller: Caller,
        category: str | None = None,
        filename: str | None = None,
        *,
        texts: bool = True,
    ) -> Sequence[FileRow]:
        """Return the files in their order."""
        return await self._call(
            "read_identity",
            FileRow,
            only_category=category,
            only_filename=filename,
            texts=texts,
            **caller.reading_home,
        )

    async def write(
        self, file: File, content: str, caller: Caller, placement: str = "replace"
    ) -> WrittenRow:
        """Replace a file, or add to it. Raises ArgumentInvalid if the text is too long."""
        try:
            return await self._write(file, content, caller, placement=placement)
        except DataRefused as refusal:
            raise refusal.explain("content") from refusal

    async def change_section(
        self, file: File, section: tuple[str, str], edit: Edit, caller: Caller, *, snapshot: bool
    ) -> WrittenRow | None:
        """Apply `edit` to a file. `section` is the name of the section and the content for it.

        If somebody else changed the file after it was read, read and edit it again. Return None if
        there is no such file. Raises ArgumentInvalid.
        """
        refused: DataRefused | None = None
        for _ in range(_ATTEMPTS):
            rows = await self.read(caller, file.category, file.filename)
            if not rows:
                return None
            text = await _edit(edit, rows[0].content or "", section)
            try:
                return await self._write(
                    file, text, caller, known=rows[0].version, snapshot=snapshot
                )
            except DataRefused as refusal:
                refused = refusal
                if refusal.code != FILE_CHANGED:
                    break
        assert refused is not None  # noqa: S101 - the loop ended by a refusal
        raise refused.explain("content")

    async def _write(
        self, file: File, content: str, caller: Caller, **more: str | int | bool
    ) -> WrittenRow:
        [row] = await self._call(
            "write_identity",
            WrittenRow,
            category=file.category,
            filename=file.filename,
            content=content,
            instance=file.instance,
            **more,
            **caller.writing,
        )
        return row

    async def delete(self, file: File, caller: Caller) -> DeletedRow:
        """Delete a file. Its text stays as a snapshot."""
        [row] = await self._call(
            "delete_identity",
            DeletedRow,
            category=file.category,
            filename=file.filename,
            instance=file.instance,
            **caller.writing,
        )
        return row

    async def label(self, file: File, label: str, caller: Caller) -> bool:
        """Set the prompt label of a file. Return False if there is no such file."""
        [row] = await self._call(
            "label_identity",
            LabelledRow,
            category=file.category,
            filename=file.filename,
            label=label,
            instance=file.instance,
            **caller.writing,
        )
        return row.labelled

    async def create_snapshots(self, caller: Caller, days: int, *, pinned: bool) -> Sequence[str]:
        """Take a snapshot of each file, and return the ids of the snapshots.

        If the caller has the scope `forget`, delete snapshots and versions older than `days`.
        """
        rows = await self._call(
            "create_snapshots", SnapshotIdRow, pinned=pinned, days=days, **caller.writing
        )
        return [row.id for row in rows]

    async def list_snapshots(
        self, caller: Caller, category: str | None = None, filename: str | None = None
    ) -> Sequence[SnapshotRow]:
        """Return the snapshots, newest first, without their texts."""
        return await self._call(
            "list_snapshots",
            SnapshotRow,
            only_category=category,
            only_filename=filename,
            **caller.reading_home,
        )

    async def find_snapshot(self, name: str, caller: Caller) -> SnapshotRow | None:
        """Return a snapshot with its text, or None."""
        rows = await self._call(
            "list_snapshots", SnapshotRow, only_id=name, texts=True, **caller.reading_home
        )
        return rows[0] if rows else None

    async def restore(self, name: str, caller: Caller) -> RestoredRow:
        """Make the text of a snapshot the text of its file again."""
        [row] = await self._call("restore_snapshot", RestoredRow, id=name, **caller.writing)
        return row


async def _edit(edit: Edit, text: str, section: tuple[str, str]) -> str:
    """Return the edited text. Raises ArgumentInvalid."""
    run = run_apart if len(text) > _LONG or len(section[1]) > _LONG else run_aside
    try:
        return await run(edit, text, *section)
    except SectionRefused as refusal:
        raise ArgumentInvalid(f"{refusal}; nothing was changed", title="Open block") from refusal
