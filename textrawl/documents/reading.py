"""The texts of files: plain text, Markdown, code, HTML and PDF."""

import hashlib
import logging
import math
import re
import resource
import struct
import unicodedata
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from textrawl.documents.chunking import Chunk, chunk_text
from textrawl.documents.files import FileRefused, open_file
from textrawl.documents.kinds import HTML, PDF, find_ending, find_kind
from textrawl.values.text import remove_hidden

MOST_CHARACTERS = 5_000_000  # in a source; check_source() in SQL allows no more
MOST_CHUNKS = 32_767
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_BLANK_LINES = re.compile(r"\n{3,}")
_UNREAD = ["head", "iframe", "nav", "noscript", "script", "style", "svg", "template"]
_EXTRA = "it needs textrawl[documents]: run `pip install 'textrawl[documents]'`"


@dataclass(frozen=True)
class FileText:
    """The text of a file, with its chunks, the hash of the file and the time of its last change."""

    text: str
    chunks: list[Chunk]
    sha256: str
    changed_at: float


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises FileRefused."""
    digest = hashlib.sha256()
    with open_file(path) as file:
        for piece in file.read():
            digest.update(piece)
    return digest.hexdigest()


def read_file(path: Path) -> FileText:
    """Return the text of a file in chunks. Raises FileRefused."""
    with open_file(path) as file:
        content = b"".join(file.read())
    text = clean_text(_choose_reader(path.name)(content))
    if len(text) > MOST_CHARACTERS:
        raise FileRefused(
            f"it has {len(text):,} characters; split it into files of at most {MOST_CHARACTERS:,}"
        )
    chunks = chunk_text(text, find_kind(path.name))
    if not chunks:
        raise FileRefused("it has no text")
    if len(chunks) > MOST_CHUNKS:
        raise FileRefused(
            f"it has {len(chunks):,} chunks; split it into files of at most {MOST_CHUNKS:,}"
        )
    return FileText(text, chunks, hashlib.sha256(content).hexdigest(), file.changed_at)


def read_file_within(path: Path, seconds: int) -> FileText:
    """Return the text of a file in chunks, in a process of its own. Raises FileRefused.

    The kernel ends the process if it uses the processor for longer. The parser of HTML needs this,
    because its time grows with the square of a page of unclosed tags.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime) + seconds
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    return read_file(path)


def clean_text(text: str) -> str:
    r"""Return the text as it is stored: NFC, lines that end with \n, no hidden characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    spaces = lines.replace("\f", " ").replace("\v", " ").replace("\u2028", "\n")
    return remove_hidden(unicodedata.normalize("NFC", spaces.replace("\u2029", "\n")))


def _choose_reader(name: str) -> Callable[[bytes], str]:
    ending = find_ending(name)
    if ending == PDF:
        return _read_pdf
    return _read_html if ending in HTML else _read_text


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
        raise FileRefused(f"it is not UTF-8: {_EXTRA}, or convert it to UTF-8")
    from charset_normalizer import from_bytes  # noqa: PLC0415 - in the extra `documents`

    guess = from_bytes(content).best()
    if guess is None:
        raise FileRefused("it is not a text")
    return str(guess)


def _read_html(content: bytes) -> str:
    """Return a page as Markdown, without its scripts, styles and navigation."""
    if find_spec("bs4") is None or find_spec("markdownify") is None:
        raise FileRefused(f"it is HTML: {_EXTRA}")
    from bs4 import BeautifulSoup  # noqa: PLC0415 - in the extra `documents`
    from bs4.element import Comment, Declaration, Doctype, ProcessingInstruction  # noqa: PLC0415
    from markdownify import MarkdownConverter  # noqa: PLC0415

    logging.getLogger("bs4").setLevel(logging.ERROR)  # it warns of odd characters
    with warnings.catch_warnings():  # of a text that could be an address, and of XHTML
        warnings.simplefilter("ignore")
        page = BeautifulSoup(content, "html.parser")
    title = page.title.get_text(" ", strip=True) if page.title else ""
    for tag in page(_UNREAD):
        tag.decompose()
    unread = (Comment, Declaration, Doctype, ProcessingInstruction)
    for piece in page.find_all(string=lambda text: isinstance(text, unread)):
        piece.extract()
    try:
        text = MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(page)
    except RecursionError:
        text = page.get_text("\n")
    text = _BLANK_LINES.sub("\n\n", text).strip()
    return text if not title or title in text[:500] else f"# {title}\n\n{text}"


def _read_pdf(content: bytes) -> str:
    """Return the text of all pages, with a blank line between two pages."""
    if find_spec("pypdf") is None:
        raise FileRefused(f"it is a PDF: {_EXTRA}")
    from pypdf import PasswordType, PdfReader  # noqa: PLC0415 - in the extra `documents`
    from pypdf.errors import DependencyError, PyPdfError  # noqa: PLC0415

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of each odd object
    try:
        reader = PdfReader(BytesIO(content))
        if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
            raise FileRefused("it needs a password")
        pages = [page.extract_text() for page in reader.pages]
    # Damaged files also lead to errors of Python, which pypdf does not translate.
    except (PyPdfError, DependencyError, ArithmeticError, AssertionError, AttributeError,
            LookupError, OSError, RuntimeError, TypeError, ValueError, struct.error,
            zlib.error) as error:  # fmt: skip
        raise FileRefused(f"it is not a PDF that can be read: {error}") from None
    text = "\n\n".join(page.strip() for page in pages)
    if not text.strip():
        raise FileRefused("its pages have no text: they are probably pictures")
    return text
