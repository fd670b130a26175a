"""The errors of textrawl, made again from what a server sends."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from textrawl import errors
from textrawl.errors import TextrawlError

_SCOPE = re.compile(r"This needs the scope (\w+)")


def _list_errors(kind: type[TextrawlError]) -> Iterator[type[TextrawlError]]:
    for one in kind.__subclasses__():
        yield one
        yield from _list_errors(one)


# Two errors have the same title: "Not allowed". A caller meets the first of them.
_BY_TITLE = {
    kind.title: kind for kind in reversed([*_list_errors(TextrawlError)]) if "title" in vars(kind)
}
_BY_CODE = {
    kind.code: kind
    for kind in (errors.ConfirmationMissing, errors.DeletionDeclined, errors.NothingToDelete)
}


def read_refusal(text: str, content: Mapping[str, Any] | None = None) -> TextrawlError:
    """Return the error of a result with isError: structured content, JSON or sentences."""
    members = content if content is not None else _read_json(text)
    if members is None:
        return _build(*_split(text))
    if code := members.get("err"):
        kind = _BY_CODE[code]
        return _build(kind.title, kind.fix)
    return _build(members["error"], members["fix"])


def read_known(text: str) -> TextrawlError | None:
    """Return the error of sentences that begin with the title of an error, or else None."""
    title, fix = _split(text)
    return _build(title, fix) if title in _BY_TITLE else None


def read_status(status: int, description: str) -> TextrawlError:
    """Return the error for a response with an HTTP status from 400."""
    if status == 401:  # noqa: PLR2004 - a number of HTTP
        return errors.NotAuthenticated()
    if status == 429:  # noqa: PLR2004 - as before
        return errors.ServerBusy(description)
    if status == 503 and description:  # noqa: PLR2004 - as before
        return _build(*_split(description, ": "))
    return errors.ServerUnreachable(description or f"The server answered with status {status}")


def _read_json(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else None


def _split(text: str, mark: str = ". ") -> tuple[str, str]:
    """Return the title and the fix of sentences. A known title can contain a full stop."""
    known = [title for title in _BY_TITLE if text.startswith(title + mark)]
    title = max(known, key=len) if known else text.partition(mark)[0]
    return title, text[len(title) + len(mark) :].removesuffix(".")


def _build(title: str, fix: str) -> TextrawlError:
    """Return the error with this title. A title that no class has is that of an argument."""
    kind = _BY_TITLE.get(title, errors.ArgumentInvalid)
    error = kind.__new__(kind)  # some classes have other parameters than the base class
    TextrawlError.__init__(error, fix, title=title)
    if isinstance(error, errors.ScopeMissing):
        found = _SCOPE.match(fix)
        error.scope = found[1] if found else ""
    return error
