"""Folders of notes: of one path in two folders become two notes, and a moved folder stays one."""

import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from textrawl.archive.bundles import Bundle
from textrawl.archive.detection import read_items
from textrawl.archive.formats import ImportFormat
from textrawl.archive.items import Fault, ImportFolder, Remark
from textrawl.archive.memory_import import shorten
from textrawl.postgres.owner_session import Session, as_json

_MOST_NOTES = 64  # whose hashes a run keeps


async def find_folder(
    session: Session, form: ImportFormat, bundle: Bundle
) -> tuple[ImportFolder, Sequence[str]]:
    """Return the folder to which the notes of a bundle belong, and what a person should know.

    It is a known folder at its place, one with nearly the same notes, or one above. Any other
    folder gets a prefix, unless it is the first. The notes of the bundle must have been read.
    """
    spaces = await session.find_spaces()
    scope = as_json([{"space": one, "system": form.name} for one in spaces.values()])
    rows = [row for (row,) in await session.call("imported_folders", scope)]
    known = [ImportFolder(**row) for row in rows if row is not None]
    root, whole = bundle.root, bundle.path.resolve() == bundle.root
    new = ImportFolder(_sign(root), notes=_sign_notes(bundle) if whole else (), whole=whole)
    if here := next((one for one in known if one.root == new.root), None):
        return replace(new, prefix=here.prefix, notes=new.notes or here.notes), []
    # Projects often begin with the same rules, but theirs are two.
    if form.name != "rules" and (
        moved := next((one for one in known if _is_alike(new, one)), None)
    ):
        said = f"{root} is taken for a known folder at a new place: nearly all notes are the same."
        return replace(new, prefix=moved.prefix), [said]
    if above := _find_above(root, known):
        return above, []
    if not rows:
        return new, []
    if None in rows:  # most items of the folder are those of imports that kept no folder
        former = {source for source, *_ in await session.call("imported_items", scope)}
        items = (one for one in read_items(form, bundle) if not isinstance(one, Fault | Remark))
        ids = {shorten(one.id) for one in items}
        if 2 * len(ids & former) > len(ids):
            return new, []
    said = f"{root} is another folder than before: notes of one path stay two."
    return replace(new, prefix=f"~{token_hex(4)}/"), [said]


def _sign_notes(bundle: Bundle) -> list[str]:
    """Return hashes of names and texts, of the same notes each time."""
    names = sorted(bundle.seen, key=_sign)[:_MOST_NOTES]
    return [_sign(f"{name}\n{bundle.read_head(name)!r}") for name in names]


def _find_above(root: Path, known: Sequence[ImportFolder]) -> ImportFolder | None:
    """Return the nearest folder above that was imported whole, with the part of it at `root`."""
    whole = {one.root: one for one in known if one.notes}
    for place in () if root.is_file() else root.parents:  # a zip is no part
        if above := whole.get(_sign(place)):
            inner = f"{root.relative_to(place).as_posix()}/"
            return replace(above, inner=inner, whole=False)
    return None


def _is_alike(new: ImportFolder, known: ImportFolder) -> bool:
    """Return whether nine of ten notes are the same."""
    same = len({*new.notes} & {*known.notes})
    return 0 < 9 * max(len(new.notes), len(known.notes)) <= 10 * same


def _sign(text: str | Path) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:16]
