"""Forms that a browser posted, after a check that the explorer asked for them, and refusals."""

import hmac
import re
import secrets
from collections.abc import AsyncGenerator, Sequence
from hashlib import sha256
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from textrawl.errors import ArgumentInvalid, TextrawlError


class FormRefused(TextrawlError):
    """A form that did not come from one of our pages, or that came too late."""

    title = "This form cannot be accepted"
    fix = "Go back, load the page again, and send the form once more"


class SignInRefused(TextrawlError):
    """A sign-in at the identity provider that ended without a session."""

    title = "You are not signed in"
    fix = "Sign in again. If this happens again, ask the administrator for a grant"


class TooManyFailures(TextrawlError):
    """An address that sent too many invalid tokens."""

    title = "Too many failures"
    fix = "Wait a minute, then sign in again"


class OwnerNeeded(TextrawlError):
    """A change that only the owner of the memory can make."""

    title = "Only the owner of the memory can do this"
    fix = "Use `textrawl token` or `textrawl explore` where the owner of the memory works"


class SentTwice(TextrawlError):
    """A form that makes something once, and that was sent again."""

    title = "This form was sent already, or it is too old"
    fix = "Nothing was done now. If something is missing, begin again"


_MOST_BYTES = 1_000_000  # so a text that is much too long still comes back in its form
_MOST_BESIDE_FILES = 65_536
_MOST_FIELDS = 50
_TYPE = "application/x-www-form-urlencoded"
_TYPE_WITH_FILES = re.compile(r"multipart/form-data; ?boundary=[\w'()+,./:=?-]{1,70}", re.ASCII)
MOST_FILES, MOST_MEGABYTES = 20, 20  # of a form with files
_TOKEN = "form_token"  # noqa: S105 - the name of a field
_KEY = secrets.token_bytes(32)  # of this process

Form = dict[str, str]


async def read_form(request: Request) -> Form:
    """Return the fields of a posted form. The last value of a repeated field counts.

    Raises FormRefused unless the browser sent the form from a page of this server. Check the token
    of the form before anything changes.
    """
    _check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise FormRefused
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            raise FormRefused("The texts are too long together: shorten them")
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError as error:
        raise FormRefused from error
    return _clean(pairs)


async def read_files(request: Request) -> tuple[Form, Sequence[UploadFile]]:
    """Return the fields and the files of a posted form. The caller closes the files.

    Raises FormRefused like `read_form`, also for too many files, and ArgumentInvalid if they are
    too large.
    """
    _check_origin(request)
    if not _TYPE_WITH_FILES.fullmatch(request.headers.get("content-type", "")):
        raise FormRefused
    pieces = _limit(request)
    parser = MultiPartParser(
        request.headers,
        pieces,
        max_files=MOST_FILES,
        max_fields=_MOST_FIELDS,
        max_part_size=_MOST_BESIDE_FILES,
    )
    try:
        posted = (await parser.parse()).multi_items()
    except MultiPartException as error:
        async for _ in pieces:  # a browser shows no answer before it has sent the form
            pass
        raise FormRefused(f"Load the page again, and choose at most {MOST_FILES} files") from error
    files = [value for _, value in posted if isinstance(value, UploadFile)]
    form = _clean([(name, text) for name, text in posted if isinstance(text, str)])
    return form, [file for file in files if file.filename]


async def close(files: Sequence[UploadFile]) -> None:
    """Close files, which deletes what is on disk."""
    for file in files:
        await file.close()


async def _limit(request: Request) -> AsyncGenerator[bytes]:
    """Yield the pieces of a form with files. Raises ArgumentInvalid at the end of a large one."""
    size, most = 0, MOST_MEGABYTES * 1_000_000 + _MOST_BESIDE_FILES
    async for piece in request.stream():
        size += len(piece)
        if size <= most:
            yield piece
    if size > most:
        fix = f"Choose files of at most {MOST_MEGABYTES} MB together, or use `textrawl ingest`"
        raise ArgumentInvalid(fix, title="The files are too large")


def _clean(pairs: Sequence[tuple[str, str]]) -> Form:
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def check_token(form: Form, form_token: str) -> None:
    """Take the token out of a form. Raises FormRefused if it is not that of the session."""
    if not hmac.compare_digest(_unmask(form.pop(_TOKEN, "")), form_token.encode()):
        raise FormRefused


def mask(form_token: str) -> str:
    """Return a form token as one page shows it, which is different in each page.

    Pages repeat texts of their addresses, and are compressed. So the sizes of many pages could tell
    a token that stays the same (BREACH).
    """
    token = form_token.encode()
    pad = secrets.token_bytes(len(token))
    return (pad + _combine(pad, token)).hex()


def _unmask(shown: str) -> bytes:
    try:
        masked = bytes.fromhex(shown)
        middle = len(masked) // 2
        return _combine(masked[:middle], masked[middle:])
    except ValueError:
        return b""


def _combine(pad: bytes, text: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(pad, text, strict=True))


def make_form_token(secret: str) -> str:
    """Return the token of a form for a browser without a session, which has `secret` as a cookie.

    Nobody else can make this token, so a foreign page cannot sign a browser in.
    """
    return derive("form", secret)


def derive(purpose: str, secret: str) -> str:
    """Return a value for one purpose that only this process can compute from a secret."""
    return hmac.new(_KEY, f"{purpose} {secret}".encode(), sha256).hexdigest()


def _check_origin(request: Request) -> None:
    """Refuse a form of another page. Browsers name the page, and scripts cannot change its name.

    Another port of this machine is another page here, but not for SameSite cookies.
    """
    headers = request.headers
    origin = headers.get("origin", "").lower().partition("://")[2]
    if origin != headers.get("host", "").lower():
        raise FormRefused
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise FormRefused
