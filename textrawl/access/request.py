"""The principal, the id and the space of an HTTP request. Tools and logs use them."""

from urllib.parse import unquote

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import Request

from textrawl.access.principal import Principal
from textrawl.errors import ArgumentInvalid
from textrawl.values.remotes import REPOSITORY_HEADER, read_repository


class PrincipalToken(AccessToken):
    """The SDK's access token with a principal instead of the secret itself."""

    principal: Principal


def find_principal(request: Request) -> Principal | None:
    """Return the principal that sent `request`, or None on a server without tokens."""
    user = request.scope.get("user")
    token = user.access_token if isinstance(user, AuthenticatedUser) else None
    return token.principal if isinstance(token, PrincipalToken) else None


def find_request_id(request: Request) -> str:
    """Return the id of the request, which its log lines and its answer contain."""
    return str(request.scope.get("state", {}).get("request_id", ""))


def find_repository(request: Request) -> str | None:
    """Return the repository that a header names, or None. Raises ArgumentInvalid."""
    given = unquote(request.headers.get(REPOSITORY_HEADER, "")).strip()
    keys = read_repository(given)
    if given and keys is None:
        fix = "give the address of a repository, such as github.com/acme/api"
        raise ArgumentInvalid(fix, title=f"The header {REPOSITORY_HEADER} names none")
    return keys


def find_space(request: Request) -> str | None:
    """Return the space that the address /mcp/{space} names."""
    return request.path_params.get("space")
