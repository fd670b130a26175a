"""The server of SERVER_URL, which runs the operations of commands for the actor of a token."""

from collections.abc import Mapping
from typing import Any, TypeVar

import httpx2
from pydantic import ValidationError

from textrawl import __version__
from textrawl.errors import (
    ArgumentInvalid,
    NotAuthenticated,
    ServerBusy,
    ServerUnreachable,
    TextrawlError,
)
from textrawl.memory.commands import Operation
from textrawl.settings import Settings
from textrawl.values.names import write_commands_address

Result = TypeVar("Result")

_TIMEOUT = 40.0  # seconds: a server answers within 30
_NOT_ALLOWED, _NOT_FOUND, _TOO_MANY = 401, 404, 429
_VERSION = "2026-07-28"  # of the protocol whose requests open no session
_OTHER_VERSION = f"install another version than {__version__} here, or update the server"


def ask_server(
    url: str,
    settings: Settings,
    operation: Operation[..., Result],
    space: str | None,
    given: Mapping[str, Any],
) -> Result:
    """Let the server at `url` run an operation, and return its result.

    Raises the errors of the operation, NotAuthenticated, ServerBusy, ServerUnreachable, and
    ArgumentInvalid if `url` already names another space.
    """
    try:
        address = write_commands_address(url, space)
    except ValueError as error:
        raise ArgumentInvalid(f"TEXTRAWL_SERVER_URL: {error}") from None
    message = {"jsonrpc": "2.0", "id": 1, "method": operation.name, "params": dict(given)}
    answer = _read_answer(_post(address, settings, message), settings)
    try:
        return operation.result.validate_python(answer, strict=False)
    except ValidationError as error:
        raise ServerUnreachable(
            f"{address} answers as another version of textrawl: {_OTHER_VERSION}"
        ) from error


def _post(address: str, settings: Settings, message: Mapping[str, Any]) -> httpx2.Response:
    token = settings.access_token
    headers = {"user-agent": f"textrawl {__version__}", "mcp-protocol-version": _VERSION}
    if token is not None:
        headers["authorization"] = f"Bearer {token.get_secret_value()}"
    try:
        return httpx2.post(address, json=message, headers=headers, timeout=_TIMEOUT)
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise ServerUnreachable(
            f"{address}: {str(error) or type(error).__name__}. Check TEXTRAWL_SERVER_URL, and "
            "whether the server runs"
        ) from error


def _read_answer(response: httpx2.Response, settings: Settings) -> Any:
    """Return the result of an answer. Raises its error."""
    try:
        members: Any = response.json()
    except ValueError:
        members = None
    match members:
        case {"result": result}:
            return result
        case {"error": {"data": {"title": str(title), "fix": str(fix)}}}:
            raise TextrawlError(fix, title=title)
        case {"error_description": str(reason)}:
            raise _explain(response, reason, settings)
        case _:
            raise _explain(response, "", settings)


def _explain(response: httpx2.Response, reason: str, settings: Settings) -> TextrawlError:
    address, status = response.request.url, response.status_code
    if status == _NOT_ALLOWED and settings.access_token is None:
        return NotAuthenticated(
            f"{address} needs a token: ask its administrator for one, and set "
            "TEXTRAWL_ACCESS_TOKEN_FILE to a file that contains it"
        )
    if status == _NOT_ALLOWED:
        return NotAuthenticated()
    if status == _TOO_MANY:
        return ServerBusy(reason or "Wait a minute")
    if status == _NOT_FOUND:
        reason = f"it offers nothing to commands: check TEXTRAWL_SERVER_URL, or {_OTHER_VERSION}"
    return ServerUnreachable(f"{address}: {reason or f'it answered with the status {status}'}")
