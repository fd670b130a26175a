"""Logging to stderr, without secrets and without forged lines.

LOG_LEVEL sets the level of textrawl's own messages. Messages of libraries below WARNING are never
logged, because they contain facts and queries.
"""

import asyncio
import json
import logging
import re
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime

from pydantic import SecretStr

from textrawl.postgres.connection import ConninfoInvalid, read_conninfo
from textrawl.settings import Settings

ANNOUNCEMENT = logging.CRITICAL + 10  # level of messages, not errors, that are always logged

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

_HIDDEN = "***"
_SHORTEST_SECRET = 4  # characters; a shorter text is not removed, because words contain it
_MOST_KEPT = 8000  # characters of a message or a traceback, because patterns are slow on long texts

# Patterns of secrets. The text of the first group is kept.
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"(trl_)[a-z0-9_]+",
        r"()eyJ[\w-]{4,4000}\.[\w-]{1,4000}(?:\.[\w-]{0,4000})?",
        r"(\bsk-)[\w-]{8,}",
        r"(\bbearer\s+)[\w.~+/=-]+",
        r"(://[^\s:@/]{0,100}:)\S{1,300}(?=@)",
        r"((?:password|passwd|pwd|secret|api_?key|access_token)[\"']?\s*[=:]\s*)"
        r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s\"',;&})]+)",
        # Postgres and pydantic repeat the values that they refuse.
        r"^((?:DETAIL|CONTEXT|LINE \d+):).*$",
        r"(\binput_value=).*?(?=, input_type=|\]$|$)",
    )
]
# Characters that control a terminal, end a line, or change the direction of text.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


class Redaction:
    """Removes `secrets` from a text, and also other text that looks like a secret."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        longest_first = sorted(
            {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET},
            key=len,
            reverse=True,
        )
        pattern = "|".join(map(re.escape, longest_first))
        self._secrets = re.compile(pattern) if longest_first else None

    def __call__(self, text: str) -> str:
        """Return at most 8,000 characters of `text`, without secrets."""
        if len(text) > _MOST_KEPT:
            # Cut between words, because half of a secret would not be recognised.
            text = text[:_MOST_KEPT].rpartition(" ")[0] + " ..."
        if self._secrets is not None:
            text = self._secrets.sub(_HIDDEN, text)
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\g<1>{_HIDDEN}", text)
        return text


class TextLines(logging.Formatter):
    """One line per message. The lines of a traceback are indented, unlike messages."""

    def __init__(self, redact: Redaction) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of `record`."""
        message = _escape(self._redact(_read_message(record)))
        level = "" if record.levelno == ANNOUNCEMENT else f"{record.levelname} "
        request = request_id.get()
        suffix = f" [request {request}]" if request else ""
        trace = self._redact(_read_trace(self, record))
        lines = [f"    {_escape(line)}" for line in trace.splitlines()]
        return "\n".join([f"textrawl {level}{message}{suffix}", *lines])


class JsonLines(logging.Formatter):
    """One JSON object per message: time, level, logger, message, and any request and exception."""

    def __init__(self, redact: Redaction) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Return the object of `record`, in ASCII."""
        members = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._redact(_read_message(record)),
            "request": request_id.get(),
            "exception": self._redact(_read_trace(self, record)),
        }
        return json.dumps({key: value for key, value in members.items() if value})


def configure_logs(settings: Settings) -> None:
    """Send every log message to stderr in the format of `settings`.

    Call it before the MCP server is created, because the server would configure logging itself.
    """
    logging.addLevelName(ANNOUNCEMENT, "NOTICE")
    redact = Redaction(find_secrets(settings))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(redact) if settings.log_format == "json" else TextLines(redact))
    level = logging.getLevelNamesMapping()[settings.log_level]
    logging.basicConfig(level=max(logging.WARNING, level), handlers=[handler])
    handler.addFilter(_is_not_cancellation)
    logging.captureWarnings(capture=True)
    logging.getLogger("textrawl").setLevel(settings.log_level)
    least = logging.NOTSET if settings.log_level == "DEBUG" else logging.ERROR
    logging.getLogger("psycopg").setLevel(least)


def find_secrets(settings: Settings) -> set[str]:
    """Return every secret in `settings`, and the passwords in connection strings."""
    found = {value.get_secret_value() for _, value in settings if isinstance(value, SecretStr)}
    return found | {password for value in found if (password := _find_password(value))}


def _is_not_cancellation(record: logging.LogRecord) -> bool:
    """Return False for a cancelled request, which would log a traceback at each shutdown."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not issubclass(kind, asyncio.CancelledError)


def _find_password(conninfo: str) -> str | None:
    try:
        password = read_conninfo(conninfo).get("password")
    except ConninfoInvalid:
        return None  # not a connection string
    return password or None


def _read_message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        # Without this, the module logging would print the arguments with their secrets.
        return f"{record.msg} {record.args}"


def _read_trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    trace = formatter.formatException(record.exc_info) if record.exc_info else ""
    return trace[-_MOST_KEPT:].partition("\n")[2] if len(trace) > _MOST_KEPT else trace


def _escape(line: str) -> str:
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), line)
