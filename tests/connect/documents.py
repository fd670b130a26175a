"""Random documents as people and programs write them, for properties of edits."""

import json
from typing import cast

from hypothesis import strategies as st

KEYS = st.sampled_from(["a", "b", "mcpServers", "other", "é", "a b", "textrawl2", "//x", "0"])
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["// no comment", "/* none */", 'quo"te', "tab\t", "}{"]),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, _VALUES, max_size=4)
_SPACES = st.sampled_from(["", " ", "\n", "\t", "  ", "\n\n  ", "\r\n", "\n\t"])
_COMMENTS = st.sampled_from(["", "", "", "// c\n", "/* c */", "/* two\n lines */", ' // "a": {,\n'])


@st.composite
def json_texts(draw: st.DrawFn, *, comments: bool = True) -> str:
    """An object as JSON or JSONC, with white space, comments and commas wherever they may be."""
    value = draw(OBJECTS)
    if draw(st.booleans()):
        text = json.dumps(value, indent=draw(st.sampled_from([None, 2, 4, "\t"])))
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
        return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n"]))

    def gap() -> str:
        return draw(_SPACES) + (draw(_COMMENTS) if comments else "") + draw(_SPACES)

    def write(part: object) -> str:
        if isinstance(part, dict):
            items = cast("dict[str, object]", part).items()
            pairs = [f"{json.dumps(key)}{gap()}:{gap()}{write(each)}" for key, each in items]
            return "{" + join(pairs) + "}"
        if isinstance(part, list):
            return "[" + join([write(each) for each in cast("list[object]", part)]) + "]"
        return json.dumps(part)

    def join(parts: list[str]) -> str:
        body = ",".join(f"{gap()}{part}{gap()}" for part in parts)
        trailing = parts and comments and draw(st.booleans())
        return body + ("," + gap() if trailing else "" if parts else gap())

    return gap() + write(value) + gap()


_TOML_LINES = st.sampled_from([
    "a = 1", "# c", "", 'b = "x" # why', "c = [1, 2, # in\n 3]", "d = { e = 1 }", 'f = """\nm\n"""',
    "g.h = 2", "when = 2026-11-23", "[t]", "[t.u]", "[[list]]", "[other]\nk = 1", "[mcp_servers.x]",
    'command = "npx"', "[mcp_servers.x.env]", 'KEY = "v"', "mcp_servers.y.command = 'z'",
    "[mcp_servers]", "[ features ]", '["q r"]',
])  # fmt: skip


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """Lines of TOML. Many of these texts are no valid TOML."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(st.lists(_TOML_LINES, max_size=7))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", newline)
