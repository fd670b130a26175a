"""What is logged: to stderr, with no secret in it and no line that another could have forged.

Our own messages come from LOG_LEVEL on. Those of libraries come from WARNING on, whatever it says,
since below that they tell what was remembered and asked.
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

from textrawl.postgres.conninfo import ConninfoInvalid, read_conninfo
from textrawl.settings import Settings

ANNOUNCED = logging.CRITICAL + 10  # what is told whatever LOG_LEVEL says, and is nothing bad

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

_HIDDEN = "***"
_SHORTEST_SECRET = 4  # characters: anything shorter is in half of all words
_MOST_KEPT = 8000  # characters of a message and of a traceback: patterns cost time on long ones

# What a secret looks like; the first group, if there is one, stays.
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
# Characters that a terminal obeys, that end a line somewhere, or that turn the text around.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


class Redaction:
    """Takes secrets out of a text: `secrets` themselves, and whatever looks like one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({one for one in secrets if len(one) >= _SHORTEST_SECRET}, key=len)
        self._known = re.compile("|".join(map(re.escape, reversed(known)))) if known else None

    def __call__(self, text: str) -> str:
        """`text` without secrets, at most 8,000 characters of it."""
        if len(text) > _MOST_KEPT:
            # Cut between words: half a secret would not be recognised.
            text = text[:_MOST_KEPT].rpartition(" ")[0] + " ..."
        if self._known is not None:
            text = self._known.sub(_HIDDEN, text)
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\g<1>{_HIDDEN}", text)
        return text


class TextLines(logging.Formatter):
    """One line an event; a traceback follows indented, so that none of it looks like an event."""

    def __init__(self, redact: Redaction) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """The lines of `record`."""
        message = _escape(self._redact(_read_message(record)))
        level = "" if record.levelno == ANNOUNCED else f"{record.levelname} "
        request = request_id.get()
        asked = f" [request {request}]" if request else ""
        trace = self._redact(_read_trace(self, record))
        lines = [f"    {_escape(line)}" for line in trace.splitlines()]
        return "\n".join([f"textrawl {level}{message}{asked}", *lines])


class JsonLines(logging.Formatter):
    """One JSON object an event: time, level, logger, message; request and exception where known."""

    def __init__(self, redact: Redaction) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """The object of `record`, in ASCII."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._redact(_read_message(record)),
            "request": request_id.get(),
            "exception": self._redact(_read_trace(self, record)),
        }
        return json.dumps({key: value for key, value in told.items() if value})


def configure_logs(settings: Settings) -> None:
    """Sends every log to stderr in the format of `settings`.

    To be called before the MCP server is made: what configures logging after it changes nothing.
    """
    logging.addLevelName(ANNOUNCED, "NOTICE")
    redact = Redaction(find_secrets(settings))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(redact) if settings.log_format == "json" else TextLines(redact))
    logging.basicConfig(level=max(logging.WARNING, _read_level(settings)), handlers=[handler])
    handler.addFilter(_is_news)
    logging.captureWarnings(capture=True)
    logging.getLogger("textrawl").setLevel(settings.log_level)
    least = logging.NOTSET if settings.log_level == "DEBUG" else logging.ERROR
    logging.getLogger("psycopg").setLevel(least)


def find_secrets(settings: Settings) -> set[str]:
    """Every secret that `settings` hold, passwords in connection strings by themselves as well."""
    found = {value.get_secret_value() for _, value in settings if isinstance(value, SecretStr)}
    return found | {password for value in found if (password := _find_password(value))}


def _is_news(record: logging.LogRecord) -> bool:
    """Not that a request was cancelled, with a traceback for each, when the server ends."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not issubclass(kind, asyncio.CancelledError)


def _find_password(conninfo: str) -> str | None:
    try:
        password = read_conninfo(conninfo).get("password")
    except ConninfoInvalid:
        return None  # it is another kind of secret
    return password or None


def _read_level(settings: Settings) -> int:
    return logging.getLevelNamesMapping()[settings.log_level]


def _read_message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        # logging itself would print the arguments as they are.
        return f"{record.msg} {record.args}"


def _read_trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    trace = formatter.formatException(record.exc_info) if record.exc_info else ""
    return trace[-_MOST_KEPT:].partition("\n")[2] if len(trace) > _MOST_KEPT else trace


def _escape(line: str) -> str:
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), line)
