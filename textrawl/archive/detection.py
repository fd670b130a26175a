"""The formats that `textrawl import` knows. The names and first bytes of files show it."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from textrawl.archive.bundles import Bundle, BundleRefused, read_object
from textrawl.archive.encryption import is_encrypted, is_encrypted_file
from textrawl.archive.formats import ImportFormat, chats, markdown, memories, opencode, sessions
from textrawl.archive.items import (
    Conversation,
    Document,
    Entity,
    ImportedFact,
    ImportedNote,
    ImportedRelation,
    ImportPlan,
    Item,
    Memory,
)
from textrawl.values.choice import join_choices
from textrawl.values.reference_file import EntityRecord, RelationRecord, read_reference_file


def _is_textrawl(bundle: Bundle) -> bool:
    return any("textrawl" in first for first in _read_first(bundle))


# The first object of a file of the reference memory server: a record, or all of them in lists.
# Other files can hold such records deeper, as the calls of tools in sessions.
_RECORD = r'"(?:entityType|relationType|observations)"\s*:'
_FIRST_RECORD = re.compile(rf'\[?\s*\{{[^{{}}]*(?:{_RECORD}|"_?type"\s*:\s*"(?:entity|relation)")')
_LISTS = re.compile(r'\{[^\[\]]*"(?:entities|relations)"\s*:\s*[\[{]')


def _is_server_memory(bundle: Bundle) -> bool:
    """Return whether a file is lines, an array or an object of entities, pretty or not."""
    if bundle.path.name not in bundle.sizes:
        return False
    head = bundle.read_head(bundle.path.name)
    text = head.decode(json.detect_encoding(head), "replace").lstrip("\ufeff \t\r\n")
    listed = _LISTS.match(text) and re.search(_RECORD, text)
    return bool(listed or _FIRST_RECORD.match(text))


def _is_cortexgraph(bundle: Bundle) -> bool:
    names = ("memories.jsonl",) if bundle.path.is_dir() else tuple(bundle.sizes)[:1]
    firsts = [first for name in names if name in bundle.sizes for first in bundle.read_first(name)]
    return any({"content", "use_count", "last_used"} <= first.keys() for first in firsts)


def _read_first(bundle: Bundle) -> list[dict[str, object]]:
    return bundle.read_first(bundle.path.name, 1) if bundle.path.name in bundle.sizes else []


LINE_FORMATS = (
    ImportFormat("textrawl", "textrawl", _is_textrawl),
    ImportFormat("server-memory", "MCP's reference memory server", _is_server_memory),
    ImportFormat("cortexgraph", "CortexGraph", _is_cortexgraph),
)
"""The formats of files whose lines are imported one by one."""

CONVERSATIONS = (*chats.FORMATS, *sessions.FORMATS, opencode.FORMAT)
_MOST_ENTRIES = 1000  # files and folders of a folder whose formats are found one by one
_DUMP = b"PGDMP"  # the first bytes of a file of pg_dump

FORMATS = {
    one.name: one for one in (*LINE_FORMATS, *CONVERSATIONS, *memories.FORMATS, *markdown.FORMATS)
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
    if form.read in (None, markdown.read_notes):  # each note is an item
        return True
    try:
        return next(form.read(bundle), None) is not None
    except BundleRefused:
        return True
    finally:
        bundle.done = 0


def find_parts(
    bundle: Bundle, name: str | None, offered: Collection[str] = FORMATS
) -> list[tuple[ImportFormat, Bundle]]:
    """Return each format with its files. Raises BundleRefused, as `find_format` does.

    The files and folders in a folder are looked at one by one. All that no other format recognises
    is read as one, because notes link to each other, except for rules of agents.
    """
    if name is not None:
        return [(find_format(bundle, name, offered), bundle)]
    path, folder = bundle.path, bundle.path.is_dir()
    entries = sorted({file.split("/", 1)[0] for file in bundle.sizes}) if folder else []
    owners = {entry: _find_owner(path / entry) for entry in entries[:_MOST_ENTRIES]}
    left = {file for file in bundle.sizes if owners.get(file.split("/", 1)[0]) is None}
    rules = left.intersection(markdown.list_rules(bundle))
    rests = [Bundle(path, files) for files in (rules, left - rules) if files]
    rest = {form.name: one for one in rests if (form := _recognise(one)) is not None}
    found = rest.keys() | {form.name for form in owners.values() if form is not None}
    # A folder of one format is read as a whole, unless only a file or folder in it has the format.
    if not found or (len(found) == 1 and _recognise(bundle)):
        return [(find_format(bundle, None, offered), bundle)]
    parts = list[tuple[ImportFormat, Bundle]]()
    for form in (form for form in FORMATS.values() if form.name in found):
        own = [entry for entry, owner in owners.items() if owner is form]
        if form.read is None:
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
    """Yield the items of a bundle. There are none if its lines are imported one by one."""
    return form.read(bundle) if form.read else iter(())


def read_plan(form: ImportFormat, bundle: Bundle, report: Callable[[int], object]) -> ImportPlan:
    """Read a bundle once. `report` gets the number of bytes read so far. Raises BundleRefused."""
    plan = ImportPlan()
    for item in read_items(form, bundle):
        plan.add(item)
        report(bundle.done)
    return plan


def count_lines(form: ImportFormat, bundle: Bundle) -> ImportPlan:
    """Count the lines of a file whose lines are imported one by one, by kind."""
    plan = ImportPlan()
    if form.name == "server-memory":
        _count_records(bundle, plan)
        return plan
    names = [name for name in bundle.sizes if name.endswith("l")] or [*bundle.sizes][:1]
    for name in names:
        for _, line in bundle.read_lines(name):
            value = read_object(line or b"") or {}
            kind = value.get("kind", value.get("type", "memory" if "content" in value else None))
            if isinstance(kind, str) and kind.isidentifier():
                plan.count(kind)
            if isinstance(space := value.get("space"), str):
                plan.spaces.add(space)
    return plan


def _count_records(bundle: Bundle, plan: ImportPlan) -> None:
    with bundle.open(bundle.path.name) as file:
        content = file.read()
    for item in read_reference_file(content, lambda _: None):
        if isinstance(item, EntityRecord):
            plan.count("entity")
            plan.count("fact", len(item.observations))
        elif isinstance(item, RelationRecord):
            plan.count("relation")


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


def read_memories(
    form: ImportFormat, bundle: Bundle, report: Callable[[int], object]
) -> Iterator[Memory]:
    """Yield the entities, facts and relations of a bundle. `report` is as of `read_plan`."""
    bundle.done = 0
    for item in read_items(form, bundle):
        if isinstance(item, Entity | ImportedFact | ImportedRelation):
            yield item
        report(bundle.done)
