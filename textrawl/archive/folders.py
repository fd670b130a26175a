"""Folders of notes: of one path in two folders become two notes, and a moved folder stays one."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from textrawl.archive.bundles import Bundle
from textrawl.archive.detection import read_items
from textrawl.archive.formats import ImportFormat
from textrawl.archive.items import Fault, ImportFolder, Remark
from textrawl.postgres.owner_session import Session, as_json
from textrawl.values.text import clean_name

_MOST_NOTES = 64  # whose hashes a run keeps
_LONGEST_NAME = 40


async def find_folder(
    session: Session, form: ImportFormat, bundle: Bundle
) -> tuple[ImportFolder, Sequence[str]]:
    """Return the folder to which the notes of a bundle belong, and what a person should know.

    It is a known folder at its place, a part of one, or one of which most notes are the same. Any
    other folder gets a prefix, unless it is the first. The notes of the bundle must have been read.
    """
    spaces = await session.find_spaces()
    scope = as_json([{"space": one, "system": form.name} for one in spaces.values()])
    rows = [row for (row,) in await session.call("imported_folders", scope)]
    known = [ImportFolder(**row) for row in rows if row is not None]
    taken = tuple({one.prefix for one in known} - {""})
    new = ImportFolder(str(bundle.root), notes=_sign_notes(bundle), others=taken)
    if found := _find_at_place(new, known, alone=bundle.path.resolve() != bundle.root):
        return found, []
    if moved := next((one for one in known if _is_alike(new, one)), None):
        said = f"{new.root} is taken for {moved.root} at a new place: most notes are the same."
        return replace(new, prefix=moved.prefix), [said]
    if not rows:
        return new, []
    if None in rows:  # most items of the folder are those of imports that kept no folder
        stored = {source for source, *_ in await session.call("imported_items", scope)}
        former = set(filter(new.owns, stored))
        ids = {one.id for one in read_items(form, bundle) if not isinstance(one, Fault | Remark)}
        if 2 * len(ids & former) > max(len(ids), len(former)):
            return new, []
    said = f"{new.root} is another folder than before: notes of one path stay two."
    return replace(new, prefix=_write_prefix(new.root, taken)), [said]


def _sign_notes(bundle: Bundle) -> list[str]:
    """Return hashes of names and texts, of the same notes each time."""
    names = sorted(bundle.seen, key=_hash)[:_MOST_NOTES]
    return [_hash(f"{name}\n{bundle.read_head(name)!r}") for name in names]


def _find_at_place(
    new: ImportFolder, known: Sequence[ImportFolder], *, alone: bool
) -> ImportFolder | None:
    """Return the known folder that is or contains the new one. `alone`: it has only one file."""
    root = Path(new.root)
    above = [one for one in known if root.is_relative_to(one.root)]
    nearest = max(above, key=lambda one: len(one.root), default=None)
    if nearest is None or (nearest.root == new.root and alone):
        return nearest and replace(nearest, others=new.others)
    if nearest.root == new.root:
        return replace(new, prefix=nearest.prefix)
    return replace(
        nearest, others=new.others, inner=f"{root.relative_to(nearest.root).as_posix()}/"
    )


def _is_alike(new: ImportFolder, known: ImportFolder) -> bool:
    same = len({*new.notes} & {*known.notes})
    return 2 * same >= max(len(new.notes), len(known.notes))


def _write_prefix(root: str, taken: Collection[str]) -> str:
    """Return a prefix that no other folder has. It is the same each time."""
    prefix, seed = "", root
    while prefix in {"", *taken}:
        seed = _hash(seed)
        prefix = f"{clean_name(Path(root).name)[:_LONGEST_NAME].strip()}~{seed[:8]}/"
    return prefix


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
