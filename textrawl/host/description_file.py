"""What a server of these settings says about itself, as the last host wrote it to a file.

A client gets its greeting and its lists from this file while a host starts, so that its first turn
has the tools. The package has the file of the default settings, for the very first start. This
module uses only the standard library, `environment` and modules like itself.

The name of the file says everything that shapes the answers: the address of the host, and the
settings and the token of the session. Only the list of resources can still differ, as it depends on
what is stored. The pipe compares it after the start.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path
from typing import cast

from textrawl import __version__
from textrawl_client.unix_socket import Address, is_private

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
GREETINGS = ("initialize", "server/discover")

Answers = Mapping[str, Mapping[str, bytes]]
"""The result of each method as JSON, by the version of the protocol."""

_PACKAGES = ("mcp-", "mcp_types-", "pydantic-", "pydantic_core-")
_CODE = (".py", ".txt")
_END, _DRAFT = ".described", ".new"
_MOST_BYTES = 8 << 20
_MOST_FILES = 16  # of a folder: one for each combination of settings that is in use


class DescriptionFile:
    """The file with the answers of a server, and those answers that it holds. It need not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.answers = _parse(_read(path))

    def write(self, answers: Answers) -> None:
        """Replace the file, unless it cannot be written. Nothing depends on it."""
        if answers == self.answers:
            return
        self.answers = answers
        with suppress(OSError):
            _write(self._path, format_answers(answers))
            folder = self._path.parent
            files = [*folder.glob(f"*{_END}"), *folder.glob(f"*{_END}.*{_DRAFT}")]
            for file in sorted(files, key=lambda file: file.stat().st_mtime)[:-_MOST_FILES]:
                file.unlink(missing_ok=True)


def name_description(address: Address, settings: Mapping[str, str], token: str | None) -> Path:
    """Return the path of the description of a session with these settings."""
    shape = json.dumps([address.key, settings, token], sort_keys=True)
    return address.folder / f"{sha256(shape.encode()).hexdigest()[:32]}{_END}"


def describe_code() -> str:
    """Return a digest of the code of textrawl, and of the packages that write schemas.

    Raises OSError.
    """
    code = [__version__, list(_list_packages()), list(_list_code())]
    return sha256(json.dumps(code).encode()).hexdigest()


def _list_packages() -> Iterator[str]:
    """Yield the names and versions of the packages that shape a list, without loading them."""
    for name in ("mcp", "pydantic"):
        spec = PathFinder.find_spec(name)
        if spec is not None and spec.origin is not None:
            with os.scandir(Path(spec.origin).parents[1]) as entries:
                yield from sorted(one.name for one in entries if one.name.startswith(_PACKAGES))


def _list_code() -> Iterator[tuple[str, int, int]]:
    """Yield name, time and size of each module of textrawl: in a checkout, the version stays."""
    folders = [str(Path(__file__).parents[1])]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(_CODE):
                    status = entry.stat()
                    yield entry.name, status.st_mtime_ns, status.st_size
                elif "." not in entry.name and not entry.name.startswith("_"):
                    folders.append(entry.path)


def format_answers(answers: Answers) -> bytes:
    """Return the content of the file: a digest, the numbers of lines, and a line per answer."""
    texts = list(dict.fromkeys(text for each in answers.values() for text in each.values()))
    numbers = {
        method: {version: texts.index(text) for version, text in each.items()}
        for method, each in answers.items()
    }
    content = b"\n".join([json.dumps(numbers).encode(), *texts])
    return _digest(content) + b"\n" + content


def _parse(file: bytes) -> Answers:
    """Return the answers in `file`. A damaged file, and one of another version, has none."""
    digest, _, content = file.partition(b"\n")
    if digest != _digest(content):
        return {}
    header, *texts = content.split(b"\n")
    numbers = cast("dict[str, dict[str, int]]", json.loads(header))
    return {
        method: {version: texts[number] for version, number in each.items()}
        for method, each in numbers.items()
    }


def _digest(content: bytes) -> bytes:
    return sha256(__version__.encode() + content).hexdigest().encode()


PACKAGED = Path(__file__).with_name("default.described")
"""The description of a server with the default settings, which the package carries."""


def read_packaged() -> Answers:
    """Return the answers of a server with the default settings."""
    return _parse(PACKAGED.read_bytes())


def _read(path: Path) -> bytes:
    """Return the content of a file that only the current OS user can change, or nothing."""
    if not is_private(path.parent):
        return b""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if not own or status.st_mode & 0o077 or status.st_size > _MOST_BYTES:
            return b""
        with suppress(OSError):
            os.utime(descriptor)  # the files that were not used for longest are deleted
        return file.read()


def _write(path: Path, content: bytes) -> None:
    """Write a private file in a private folder, so that readers see all of it or none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_private(path.parent):
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}{_DRAFT}")
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
            file.write(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
