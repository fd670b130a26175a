"""The formats that `textrawl import` knows. The names and first bytes of files show it."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.encryption import is_encrypted, is_encrypted_file
from textrawl.archive.formats import (
    ImportFormat,
    Record,
    chats,
    cortexgraph,
    markdown,
    memories,
    name_once,
    opencode,
    read_rows,
    server_memory,
    sessions,
)
from textrawl.archive.items import Conversation, Document, ImportedNote, ImportPlan, Item, Remark
from textrawl.values.choice import join_choices


def _is_textrawl(bundle: Bundle) -> bool:
    name = bundle.path.name
    return name in bundle.sizes and any("textrawl" in one for one in bundle.read_first(name, 1))


CONVERSATIONS = (*chats.FORMATS, *sessions.FORMATS, opencode.FORMAT)
_MOST_ENTRIES = 1000  # files and folders of a folder whose formats are found one by one
_DUMP = b"PGDMP"  # the first bytes of a file of pg_dump

FORMATS = {
    one.name: one
    for one in (
        ImportFormat("textrawl", "textrawl", _is_textrawl, listed=False),
        *(server_memory.FORMAT, cortexgraph.FORMAT),
        *CONVERSATIONS,
        *memories.FORMATS,
        *markdown.FORMATS,
    )
}
"""All formats by name, in the order in which they are asked."""


def find_format(
    bundle: Bundle, name: str | None, offered: Collection[str] = FORMATS
) -> ImportFormat:
    """Return the named format, or the first that recognises the files.

    Raises BundleRefused, which names the formats that the command offers.
    """
    if name is not None:
        return FORMATS[name]
    if (found := _recognise(bundle)) is not None:
        return found
    if not bundle.sizes:
        raise BundleRefused(
            f"{bundle.path} has no files. This command looks for files of the formats "
            f"{join_choices([*offered])}"
        )
    for file in [*bundle.sizes][:_MOST_ENTRIES]:
        refuse_backup(head := bundle.read_head(file), file)
        if is_encrypted(head):
            raise BundleRefused(
                f"{file} is encrypted: `textrawl import` reads it if you name the file itself, and "
                "your key with --identity"
            )
    raise BundleRefused(
        f"{bundle.path} has none of the formats {join_choices([*offered])}, or nothing in it. If "
        "it has one of them, name it with --from. `textrawl ingest` adds files as texts"
    )


def list_encrypted(bundle: Bundle) -> list[str]:
    """Return the encrypted files of a folder, which no import of the folder can read."""
    names = [*bundle.sizes][:_MOST_ENTRIES] if bundle.path.is_dir() else []
    return [name for name in names if is_encrypted_file(bundle.path / name)]


def refuse_backup(head: bytes, name: str) -> None:
    """Raise BundleRefused if the file that begins with `head` was written by `textrawl backup`."""
    if head.startswith(_DUMP):
        raise BundleRefused(f"{name} is a backup, which `textrawl restore` reads")


def _recognise(bundle: Bundle) -> ImportFormat | None:
    """Return the first format that recognises the files and finds something in them."""
    found = (one for one in FORMATS.values() if one.recognises(bundle))
    return next((one for one in found if _finds_items(one, bundle)), None)


def _finds_items(form: ImportFormat, bundle: Bundle) -> bool:
    """Return whether a format finds an item or a fault. A file that is cut is told as a fault."""
    if form.read is None:
        return True
    try:
        if form.read is markdown.read_notes:  # it would read each note
            return markdown.has_text(bundle)
        return any(not isinstance(item, Remark) for item in form.read(bundle))
    except BundleRefused:
        return True
    finally:
        bundle.restart()


def find_parts(
    bundle: Bundle, name: str | None, offered: Collection[str] = FORMATS
) -> list[tuple[ImportFormat, Bundle]]:
    """Return each format with its files. Raises BundleRefused, as `find_format` does.

    The files and folders in a folder are looked at one by one. All that no other format recognises
    is read as one, because notes link to each other, except for rules and files of agents.
    """
    if name is not None:
        return [(find_format(bundle, name, offered), bundle)]
    path, folder = bundle.path, bundle.path.is_dir()
    entries = sorted({file.split("/", 1)[0] for file in bundle.sizes}) if folder else []
    owners = {entry: _find_owner(path / entry) for entry in entries[:_MOST_ENTRIES]}
    left = {file for file in bundle.sizes if owners.get(file.split("/", 1)[0]) is None}
    rules = left.intersection(markdown.list_rules(bundle))
    agents = {file for file in left if file.endswith(memories.AGENT)}
    rests = [Bundle(path, files) for files in (rules, agents, left - rules - agents) if files]
    rest = {form.name: one for one in rests if (form := _recognise(one)) is not None}
    found = rest.keys() | {form.name for form in owners.values() if form is not None}
    # A folder of one format is read as a whole, unless only a file or folder in it has the format.
    if not found or (len(found) == 1 and _recognise(bundle)):
        return [(find_format(bundle, None, offered), bundle)]
    parts = list[tuple[ImportFormat, Bundle]]()
    for form in (form for form in FORMATS.values() if form.name in found):
        own = [entry for entry, owner in owners.items() if owner is form]
        if not form.listed:
            parts += [(form, Bundle(path / entry)) for entry in own]
        else:
            more = rest[form.name].sizes if form.name in rest else ()
            parts.append((form, Bundle(path, {*own, *more})))
    return parts


def _find_owner(path: Path) -> ImportFormat | None:
    """Return the format of a file or folder, unless it holds notes or cannot be read."""
    if path.suffix == ".md":
        return None
    try:
        found = _recognise(Bundle(path))
    except BundleRefused:
        return None
    return None if found in markdown.FORMATS else found


def find_home(name: str) -> Path:
    """Return the folder in which a program keeps its files. Raises BundleRefused."""
    form = FORMATS[name]
    if form.home is None:
        raise BundleRefused(f"name the file or folder of {form.title} as PATH")
    folder = form.home()
    if not folder.exists():
        raise BundleRefused(f"{form.title} has no files in {folder}: name them as PATH")
    return folder


def read_items(form: ImportFormat, bundle: Bundle) -> Iterator[Item]:
    """Yield the items of a bundle from its begin. There are none of an export of textrawl."""
    bundle.restart()
    return name_once(form.read(bundle)) if form.read else iter(())


def read_plan(form: ImportFormat, bundle: Bundle, report: Callable[[int], object]) -> ImportPlan:
    """Read a bundle once. `report` gets the number of bytes read so far. Raises BundleRefused."""
    plan = ImportPlan()
    for item in read_items(form, bundle):
        plan.add(item)
        report(bundle.done)
    return plan


def count_lines(bundle: Bundle) -> ImportPlan:
    """Count the lines of an export of textrawl by kind."""
    plan = ImportPlan()
    for _, row in (one for name in bundle.sizes for one in read_rows(bundle, name)):
        kind, space = (row.text("kind"), row.text("space")) if isinstance(row, Record) else ("", "")
        if kind.isidentifier():
            plan.count(kind)
        plan.spaces |= {space} - {""}
    return plan


def read_documents(
    form: ImportFormat, bundle: Bundle, counts: dict[str, int]
) -> Iterator[Document]:
    """Yield the documents of a bundle. Of several with one id, yield only the last.

    `counts` says how often each id comes: see `ImportPlan.documents`.
    """
    left = {key: number for key, number in counts.items() if number > 1}
    for item in read_items(form, bundle):
        if isinstance(item, Conversation | ImportedNote):
            left[item.id] = left.get(item.id, 1) - 1
            if left[item.id] <= 0:
                yield item
