"""Hiding secrets in configuration that is shown."""

import re

from textrawl.clients.servers import HIDDEN

_WORDS = "token|key|secret|passw|credential|auth|cookie|dsn|database_(?:read_)?url"
_NAMES = rf"(?<![\w-])(?=[\w-]*?(?:{_WORDS}))[\w-]++"  # whole words, in linear time
_NAMED = re.compile(
    rf"""((?:["']?{_NAMES}(?<!_FILE)["']?)\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[\w.+/-]+)""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(Bearer\s+)(?!\$|\{|%s|\*)[\w.~+/=-]+", re.IGNORECASE)
_PASSWORD = re.compile(r"(?<=://)[^/@\s\"']+(?=@)")
_LONG = re.compile(r"(?<![\w/.-])(?=[\w-]*\d)(?=[\w-]*[a-zA-Z])[\w-]{24,}(?![\w/.-])")
_HARMLESS = re.compile(r"""["']?(?:\$|\{(?:env|file):|Bearer \$|Bearer \{|TEXTRAWL_ACCESS_TOKEN)""")


def hide_secrets(line: str) -> str:
    """Return a line of configuration with `***` for what may be a secret.

    These are the values of names such as token or key, tokens after Bearer, passwords in URLs, and
    long words of letters and digits. References to variables and files stay.
    """
    line = _NAMED.sub(_hide_value, line)
    for pattern, shown in ((_BEARER, rf"\1{HIDDEN}"), (_PASSWORD, HIDDEN), (_LONG, HIDDEN)):
        line = pattern.sub(shown, line)
    return line


def _hide_value(match: re.Match[str]) -> str:
    name, value = match.groups()
    if _HARMLESS.match(value) or value in ("true", "false", "null"):
        return match[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{quote}{HIDDEN}{quote}"
