"""The server of SERVER_URL, which runs the operations of commands for the actor of a token."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx2
from pydantic import ValidationError

from textrawl import __version__
from textrawl.errors import (
    ArgumentInvalid,
    MemoryNotEnabled,
    NotAuthenticated,
    ServerBusy,
    ServerUnreachable,
    TextrawlError,
    require_writable,
)
from textrawl.host.repository import find_folder, find_repository
from textrawl.memory.commands import find_operation, identify
from textrawl.settings import read_settings
from textrawl.values.names import write_commands_address
from textrawl.values.remotes import REPOSITORY_HEADER

_TIMEOUT = 40.0  # seconds: a server answers within 30
_BRIEFLY = 5.0  # seconds to find out whether a server answers
_NOT_ALLOWED, _NOT_FOUND, _TOO_MANY = 401, 404, 429
_VERSION = "2026-07-28"  # of the protocol whose requests open no session
_OTHER_VERSION = f"install another version than {__version__} here, or update the server"


def ask_server(name: str, space: str | None, given: Mapping[str, Any]) -> Any:
    """Let the server of the settings run an operation, and return its result as JSON.

    Raises the errors of the operation, ReadOnly, NotAuthenticated, ServerBusy, ServerUnreachable,
    and ArgumentInvalid if the address already names another space.
    """
    settings, operation = read_settings(), find_operation(name)
    if not settings.enable_memory:
        raise MemoryNotEnabled
    if operation.writes:
        require_writable(settings.read_only)
    chosen = space or (settings.space if operation.placed else None)
    try:
        address = write_commands_address(settings.server_url or "", chosen)
    except ValueError as error:
        raise ArgumentInvalid(f"TEXTRAWL_SERVER_URL: {error}") from None
    message = {"jsonrpc": "2.0", "id": 1, "method": name, "params": dict(given)}
    token = settings.access_token
    bearer = token.get_secret_value() if token is not None else None
    answer = _read_answer(_post(address, bearer, message, _TIMEOUT), bearer)
    try:
        operation.result.validate_python(answer, strict=False)
    except ValidationError as error:
        raise ServerUnreachable(
            f"{address} answers as another version of textrawl: {_OTHER_VERSION}"
        ) from error
    return answer


def find_obstacle(url: str, bearer: str | None) -> str | None:
    """Ask the server at `url` once. Return the reason why it does not serve the token, or None.

    Without a token, it is enough that a server asks for one, because a client may log in.
    """
    message = {"jsonrpc": "2.0", "id": 1, "method": identify.name}
    try:
        address = write_commands_address(url, None)
        _read_answer(_post(address, bearer, message, _BRIEFLY), bearer)
    except NotAuthenticated as error:
        return str(error) if bearer else None
    except (TextrawlError, ValueError) as error:
        return str(error)
    return None


def _post(
    address: str, bearer: str | None, message: Mapping[str, Any], timeout: float
) -> httpx2.Response:
    headers = {"user-agent": f"textrawl {__version__}", "mcp-protocol-version": _VERSION}
    if keys := find_repository(find_folder()):
        headers[REPOSITORY_HEADER] = quote(" ".join(keys), safe=" /:#@+~")
    if bearer is not None:
        headers["authorization"] = f"Bearer {bearer}"
    try:
        return httpx2.post(address, json=message, headers=headers, timeout=timeout)
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise ServerUnreachable(
            f"{address}: {str(error) or type(error).__name__}. Check TEXTRAWL_SERVER_URL, and "
            "whether the server runs"
        ) from error


def _read_answer(response: httpx2.Response, bearer: str | None) -> Any:
    """Return the result of an answer. Raises its error."""
    try:
        members: Any = response.json()
    except ValueError:
        members = None
    match members:
        case {"result": result}:
            return result
        case {"error": {"data": {"error": str(title), "fix": str(fix)}}}:
            raise TextrawlError(fix, title=title)
        case {"error_description": str(reason)}:
            raise _explain(response, reason, bearer)
        case _:
            raise _explain(response, "", bearer)


def _explain(response: httpx2.Response, reason: str, bearer: str | None) -> TextrawlError:
    address, status = response.request.url, response.status_code
    if status == _NOT_ALLOWED and bearer is None:
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
