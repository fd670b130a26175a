"""Files and their texts, in folders."""

import csv
import hashlib
import logging
import math
import os
import re
import resource
import stat
import struct
import warnings
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes, policy
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from textrawl.memory.chunking import (
    DOCUMENTS,
    HTML,
    PDF,
    Chunk,
    chunk_text,
    find_ending,
    find_kind,
    join_cells,
    name_cells,
)
from textrawl.values.leaks import describe_secrets, mask_secrets
from textrawl.values.text import clean_name, clean_text
from textrawl.values.word_lists import SecretMode

LONGEST_PATH, LONGEST_LABEL = 295, 200
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True)
class FoundFile:
    """A file to ingest. `name` is its path for people. It begins with the folder that was given."""

    file: Path
    name: str

    @property
    def path(self) -> str:
        """The path of the source. It is the key of the source in its graph."""
        return f"file/{_shorten(self.name, LONGEST_PATH)}"

    @property
    def label(self) -> str:
        """The name of the source for people."""
        return _shorten(self.name, LONGEST_LABEL)


@dataclass(frozen=True)
class FoundFiles:
    """The files of an ingest. `left_out` has the names of links and of other kinds in folders."""

    files: list[FoundFile]
    left_out: list[str]


def find_files(named: Iterable[Path]) -> FoundFiles:
    """Return the named files, and the documents of the named folders with their subfolders.

    Hidden files and folders are left out, and so are links. Raises FileNotFoundError, or ValueError
    if two files would become the same source.
    """
    files, left_out = dict[str, FoundFile](), list[str]()
    for path in named:
        if not path.exists():
            raise FileNotFoundError(path)
        for found, wanted in _walk(path):
            if not wanted:
                left_out.append(found.name)
                continue
            other = files.setdefault(found.path, found)
            if other.file.resolve() != found.file.resolve():
                raise ValueError(f"{other.file} and {found.file} would both become {found.name}")
    return FoundFiles(list(files.values()), left_out)


def _walk(path: Path) -> Iterator[tuple[FoundFile, bool]]:
    """Yield each file of a path, with True if its kind can be ingested."""
    name = _name(path)
    if not path.is_dir():
        yield FoundFile(path, name), True
        return
    for folder, below, files in os.walk(path):
        below[:] = sorted(one for one in below if one[0] != "." and one not in _LEFT_OUT)
        for one in sorted(files):
            file = Path(folder) / one
            if one[0] == ".":
                continue
            inner = _clean(f"{name}/{file.relative_to(path).as_posix()}")
            plain = file.is_file() and not file.is_symlink()
            yield FoundFile(file, inner), plain and find_ending(one) in DOCUMENTS


def _name(path: Path) -> str:
    """Return a path as it was given, or only its last part if it leads out of this folder."""
    if path.is_absolute() or ".." in path.parts or not path.parts:
        path = Path(path.resolve().name)
    return _clean(path.as_posix())


def _clean(name: str) -> str:
    """Return a name that can be stored, also of a file whose name is not UTF-8."""
    return clean_name(os.fsencode(name).decode("utf-8", "replace"))


def _shorten(name: str, most: int) -> str:
    """Return a name that is longer than `most` as its hash and its end, in `most` characters."""
    if len(name) <= most:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{digest}…{name[len(digest) + 1 - most :]}"


MOST_BYTES = 200_000_000
_PIECE = 1 << 20  # bytes that are read at once
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class FileRefused(Exception):
    """A file that cannot be stored. The message gives the reason."""


class OpenFile:
    """A regular file that is open. `changed_at` is the time of its last change, in seconds."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._status = _check(os.fstat(descriptor))
        self.changed_at = self._status.st_mtime

    def read(self) -> Iterator[bytes]:
        """Yield the bytes in pieces.

        Raises FileRefused if the file is too large, or if another program changes it meanwhile.
        """
        size = 0
        while piece := os.read(self._descriptor, _PIECE):
            size += len(piece)
            _refuse_large(size)
            yield piece
        now = os.fstat(self._descriptor)
        before = self._status
        if (now.st_mtime_ns, now.st_size) != (before.st_mtime_ns, before.st_size):
            raise FileRefused("it changed while it was read: run the command again")


@contextmanager
def open_file(path: Path) -> Generator[OpenFile]:
    """Open a file to read it. Raises FileRefused, also for what is read within the block.

    A FIFO or a device is not opened. If one takes the place of a file meanwhile, O_NONBLOCK keeps
    the process from waiting for its writer.
    """
    try:
        _check(path.stat())
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(path, flags)
        try:
            yield OpenFile(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise FileRefused(f"it cannot be read: {error.strerror}") from None


def _check(status: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise FileRefused(f"it is {kind}, not a regular file")
    _refuse_large(status.st_size)
    return status


def _refuse_large(size: int) -> None:
    if size > MOST_BYTES:
        raise FileRefused(f"it is larger than {MOST_BYTES // 1_000_000} MB")


LONGEST_SOURCE = 5_000_000  # in a source; check_source() in SQL allows no more
MOST_CHUNKS = 32_767
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_BLANK_LINES = re.compile(r"\n{3,}")
_MAIL = re.compile(rb"(?:\A|\r?\n\r?\n)From [^\n]*\n")  # before each mail of a file of mails
_UNREAD = ["head", "iframe", "nav", "noscript", "script", "style", "svg", "template"]
_MARKUP = (("<!--", "-->"), ("<![", "]>"), ("<", ">"))
EXTRA = "textrawl[documents]"


@dataclass(frozen=True)
class FileText:
    """The text of a file, with its chunks, the hash of the file and the time of its last change.

    `secrets` has the kinds and lines of its secrets.
    """

    text: str
    chunks: list[Chunk]
    sha256: str
    changed_at: float
    secrets: str = ""


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises FileRefused."""
    digest = hashlib.sha256()
    with open_file(path) as file:
        for piece in file.read():
            digest.update(piece)
    return digest.hexdigest()


def read_file(path: Path, mode: SecretMode = "allow") -> FileText:
    """Return the text of a file in chunks, with its secrets treated. Raises FileRefused."""
    with open_file(path) as file:
        content = b"".join(file.read())
    # Pages and columns end with these two.
    text = clean_text(_choose_reader(path.name)(content).replace("\f", " ").replace("\v", " "))
    kind = find_kind(path.name)
    if kind == "markdown":
        text = "\n".join(name_cells(text.split("\n")))
    masked = mask_secrets(text)
    secrets = describe_secrets(masked.secrets)
    if secrets and mode == "refuse":
        raise FileRefused(f"it has a secret: {secrets}")
    text = text if mode == "allow" else masked.text
    if len(text) > LONGEST_SOURCE:
        raise FileRefused(
            f"it has {len(text):,} characters; split it into files of at most {LONGEST_SOURCE:,}"
        )
    chunks = chunk_text(text, kind)
    if not chunks:
        raise FileRefused("it has no text")
    if len(chunks) > MOST_CHUNKS:
        raise FileRefused(
            f"it has {len(chunks):,} chunks; split it into files of at most {MOST_CHUNKS:,}"
        )
    return FileText(text, chunks, hashlib.sha256(content).hexdigest(), file.changed_at, secrets)


def read_file_within(path: Path, seconds: int, mode: SecretMode = "allow") -> FileText:
    """Return the text of a file in chunks, in a process of its own. Raises FileRefused.

    The kernel ends the process if it uses the processor for longer. Some files need this, because
    the time of the readers of PDF and HTML can grow faster than the file.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime) + seconds
    limits = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most, limits[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    try:
        return read_file(path, mode)
    finally:  # a server uses the process for other computations too
        resource.setrlimit(resource.RLIMIT_CPU, limits)


def _choose_reader(name: str) -> Callable[[bytes], str]:
    ending = find_ending(name)
    return _READERS.get(ending, _read_html if ending in HTML else _read_text)


def _read_table(content: bytes) -> str:
    """Return a table as lines. Each row after the first one names its cells."""
    text = _read_text(content)
    first = text.split("\n", 1)[0]
    rows = csv.reader(text.splitlines(keepends=True), delimiter=max(",;\t", key=first.count))
    try:
        cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    except csv.Error as error:
        raise FileRefused(f"it is not a table that can be read: {error}") from None
    return "\n".join([first, *(join_cells(cells[0], row) for row in cells[1:])])


def _read_mails(content: bytes) -> str:
    """Return the texts of a mail, or of the mails in a file, with the names of what they hold."""
    # Only a file of mails begins so. In another mail, a paragraph can begin with this word.
    mails = _MAIL.split(content) if content.startswith(b"From ") else [content]
    return "\n\n".join(map(_read_mail, filter(bytes.strip, mails)))


def _read_mail(content: bytes) -> str:
    mail = message_from_bytes(content, policy=policy.default)
    try:
        head = [f"{name}: {mail[name]}" for name in ("From", "To", "Cc", "Date") if mail[name]]
        body = mail.get_body(("plain", "html"))
        text = str(body.get_content()) if body else ""
        files = [
            f"[{one.get_filename() or one.get_content_type()}]" for one in mail.iter_attachments()
        ]
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        raise FileRefused(f"it is not a mail that can be read: {error}") from None
    if body and body.get_content_subtype() == "html":
        text = _read_html(text.encode())
    return "\n".join([f"# {mail['Subject'] or 'Mail'}", *head, "", text.strip(), *files])


def _read_text(content: bytes) -> str:
    encoding = _MARKS.get(content[:2], "utf-8-sig")
    if encoding == "utf-8-sig" and b"\x00" in content:
        raise FileRefused("it is not a text")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return _guess_text(content)


def _guess_text(content: bytes) -> str:
    if find_spec("charset_normalizer") is None:
        raise FileRefused(f"it is not UTF-8: convert it to UTF-8, or install {EXTRA}")
    from charset_normalizer import from_bytes  # noqa: PLC0415 - in the extra `documents`

    guess = from_bytes(content).best()
    if guess is None:
        raise FileRefused("it is not a text")
    return str(guess)


def _read_html(content: bytes) -> str:
    """Return a page as Markdown, without its scripts, styles and navigation."""
    if find_spec("bs4") is None or find_spec("markdownify") is None:
        raise FileRefused(f"it is HTML, which needs {EXTRA}")
    import bs4  # noqa: PLC0415 - in the extra `documents`
    from markdownify import MarkdownConverter  # noqa: PLC0415 - in the extra `documents`

    logging.getLogger("bs4").setLevel(logging.ERROR)  # it warns of odd characters
    with warnings.catch_warnings():  # of a text that could be an address, and of XHTML
        warnings.simplefilter("ignore")
        text = bs4.UnicodeDammit(content, is_html=True).unicode_markup or ""
        page = bs4.BeautifulSoup(_escape_unclosed(text), "html.parser")
    title = page.title.get_text(" ", strip=True) if page.title else ""
    for tag in page(_UNREAD):
        tag.decompose()
    unread = (bs4.Comment, bs4.Declaration, bs4.Doctype, bs4.element.ProcessingInstruction)
    for piece in page.find_all(string=lambda text: isinstance(text, unread)):
        piece.extract()
    try:
        text = MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(page)
    except RecursionError:
        text = page.get_text("\n")
    text = _BLANK_LINES.sub("\n\n", text).strip()
    return text if not title or title in text[:500] else f"# {title}\n\n{text}"


def _escape_unclosed(page: str) -> str:
    """Escape comments and tags that are not closed before the end of a page.

    For each unclosed one, the parser would search the page to its end.
    """
    for begin, end in _MARKUP:
        place = page.rfind(end) + 1
        page = page[:place] + page[place:].replace(begin, f"&lt;{begin[1:]}")
    return page


def _read_pdf(content: bytes) -> str:
    """Return the text of all pages, with a blank line between two pages."""
    if find_spec("pypdf") is None:
        raise FileRefused(f"it is a PDF, which needs {EXTRA}")
    from pypdf import PasswordType, PdfReader, errors  # noqa: PLC0415 - in the extra `documents`

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of each odd object
    try:
        reader = PdfReader(BytesIO(content))
        if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
            raise FileRefused("it needs a password")
        pages = [page.extract_text() for page in reader.pages]
    # Damaged files also lead to errors of Python, which pypdf does not translate.
    except (errors.PyPdfError, errors.DependencyError, ArithmeticError, AssertionError,
            AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError,
            struct.error, zlib.error) as error:  # fmt: skip
        raise FileRefused(f"it is not a PDF that can be read: {error}") from None
    text = "\n\n".join(page.strip() for page in pages)
    if not text.strip():
        raise FileRefused("its pages have no text: they are probably pictures")
    return text


_READERS: dict[str, Callable[[bytes], str]] = {
    PDF: _read_pdf,
    ".csv": _read_table,
    ".tsv": _read_table,
    ".eml": _read_mails,
    ".mbox": _read_mails,
}
