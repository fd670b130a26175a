"""Sessions of opencode: rows of the SQLite database `opencode.db`."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby

from textrawl.archive.bundles import Bundle, BundleRefused, read_object
from textrawl.archive.formats import ImportFormat, Record, as_text
from textrawl.archive.formats.sessions import ClientSession, find_folder
from textrawl.archive.items import Item
from textrawl.values.transcripts import Message, clean_message

_FILE, _MAGIC = "opencode.db", b"SQLite format 3\0"
# A session with a parent is one of a sub-agent.
_SESSIONS = "select id, title, directory from session where parent_id is null order by id"
# Until the next prompt, the file keeps what a person took back: all from the id in `revert` on.
_PARTS = """
    select m.id, m.time_created, m.data, p.data
    from session s join message m on m.session_id = s.id join part p on p.message_id = m.id
    where s.id = ? and (s.revert is null or (m.id, p.id)
        < (json_extract(s.revert, '$.messageID'), ifnull(json_extract(s.revert, '$.partID'), '')))
    order by m.time_created, m.id, p.id
"""


def _find_file(bundle: Bundle) -> str | None:
    found = bundle.find(_FILE) or (bundle.path.name if bundle.path.is_file() else None)
    return found if found in bundle.sizes else None


def recognises(bundle: Bundle) -> bool:
    """Return whether the file is the database of opencode."""
    name = _find_file(bundle)
    return name is not None and bundle.read_head(name).startswith(_MAGIC)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions of people."""
    name = _find_file(bundle)
    path = bundle.locate(name) if name else None
    if path is None:
        raise BundleRefused(f"{bundle.path} has no file {_FILE} on the disk: unpack it first")
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as database:
            for key, title, folder in database.execute(_SESSIONS):
                session = ClientSession(as_text(key), as_text(title), as_text(folder) or None)
                rows = database.execute(_PARTS, (key,))
                for (message, created), parts in groupby(rows, lambda row: row[:2]):
                    texts = [text for *_, about, part in parts for text in _read(about, part)]
                    session.add(message, texts, created)
                    bundle.count(sum(len(text.text) for text in texts))
                if conversation := session.build():
                    yield conversation
    except sqlite3.Error as error:
        raise BundleRefused(f"{path} cannot be read: {error}") from error


def _read(message: str, part: str) -> Iterator[Message]:
    about, content = (Record.of(read_object(one.encode())) for one in (message, part))
    role, text = about.text("role"), content.text("text")
    omitted = content.get("synthetic") or content.get("ignored") or content.get("type") != "text"
    if role in ("user", "assistant") and not omitted and (text := clean_message(text, role)):
        yield Message(role, text)


FORMAT = ImportFormat(
    "opencode",
    "opencode",
    recognises,
    read,
    find_folder("XDG_DATA_HOME", ".local/share", "opencode"),
)
