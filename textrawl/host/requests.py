"""The form of requests to the process that has the memory open, and of its answers.

A hook of an editor runs this module before anything else is imported. Therefore it imports only the
standard library, `environment`, and modules like itself.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from textrawl import __version__
from textrawl.environment import (
    SESSION_SETTINGS,
    ValueSource,
    find_access_token,
    find_data_dir,
    find_value,
    read_sources,
)
from textrawl.errors import TextrawlError
from textrawl.host.repository import find_checkout, find_folder, find_repository
from textrawl.values.word_lists import PROGRAM
from textrawl_client.unix_socket import ResidentRefused, build_address

SESSION = "session"  # the method of a request that turns its connection into a session of MCP
PING: dict[str, Any] = {"method": "ping"}
_OFF, _ON = ("false", "0", "no", "off"), ("true", "1", "yes", "on")


def find_session_settings(sources: Sequence[ValueSource]) -> dict[str, str]:
    """Return the settings of a session that are set.

    A name begins with `?` if nobody trusts the file that sets it: a wrong value there is ignored.
    """
    loose = {source.label for source in sources if not source.trusted}
    found = {name: find_value(name, sources) for name in SESSION_SETTINGS}
    return {
        f"?{name}" if value.source in loose else name: value.text
        for name, value in found.items()
        if value
    }


def write_request(method: str, **params: object) -> bytes:
    """Return the line of a request that any version of a host understands."""
    own = {"_meta": {PROGRAM: {"version": __version__}}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **own}}
    return json.dumps(message).encode() + b"\n"


def complete(
    request: Mapping[str, Any], sources: Sequence[ValueSource] | None = None
) -> dict[str, Any]:
    """Return the whole request: it says the version of textrawl, and whose rights it has.

    What the settings forbid is in it too. `sources` are those of this process by default. Raises
    ResidentRefused if memory is off, and StartRefused.
    """
    sources = read_sources() if sources is None else sources
    names = ("enable_memory", "read_only", "record_recalls")
    found = {name: value.text.lower() for name in names if (value := find_value(name, sources))}
    if found.get("enable_memory", _ON[0]) not in _ON:
        raise ResidentRefused("TEXTRAWL_ENABLE_MEMORY is off")
    read_only = found.get("read_only", _OFF[0]) not in _OFF
    quiet = read_only or found.get("record_recalls") == "off"
    own = {
        "version": __version__,
        "readOnly": read_only,
        "record": not quiet,
        "token": find_access_token(sources),
        "settings": find_session_settings(sources),
    }
    params = request.get("params", {})
    given = params.get("_meta", {}).get(PROGRAM, {})
    if params and "repository" not in given:
        kept = build_address(find_data_dir(sources), {}).folder
        own["repository"] = " ".join(find_repository(find_folder(), kept))
        own["checkout"] = find_checkout(find_folder())
    program = {**own, **given}
    known = {name: value for name, value in program.items() if value is not None}
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": request["method"],
        "params": {**params, "_meta": {PROGRAM: known}},
    }


class SocketAnswer(NamedTuple):
    """An answer: its content, and the lines of a tool with their tokens and the ids of facts."""

    content: Any
    text: str = ""
    ids: Sequence[str] = ()
    tokens: int = 0

    @property
    def short_ids(self) -> list[str]:
        """The short ids of the facts."""
        from textrawl.values.text import SHORT_ID  # noqa: PLC0415 - a greeting does without its 12 ms

        return [identity[:SHORT_ID] for identity in self.ids]


def read_answer(answer: Mapping[str, Any]) -> SocketAnswer:
    """Return what a process answered. Raises TextrawlError if it is an error."""
    if "error" in answer:
        failure = answer["error"]["data"]
        reason = f" ({failure['reason']})" if failure.get("reason") else ""
        raise TextrawlError(failure["fix"] + reason, title=failure["error"])
    result = answer["result"]
    if "content" not in result:
        return SocketAnswer({})
    details, text = result["_meta"][PROGRAM], result["content"][0]["text"]
    return SocketAnswer(result["structuredContent"], text, details["ids"], details["tokens"])
