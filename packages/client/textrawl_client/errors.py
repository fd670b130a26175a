"""The errors that a program can catch. Each says what to do next.

A server has more kinds of these, and says of each error which of these it is. The module imports
only the standard library, because a server loads it before anything else.
"""

from collections.abc import Sequence


class TextrawlError(Exception):
    """The base class of every error that a tool call can return to its caller."""

    title = "Failed"
    fix = "Try again"

    def __init__(self, fix: str | None = None, *, title: str | None = None) -> None:
        self.title = title or self.title
        self.fix = fix or self.fix
        super().__init__(f"{self.title}: {self.fix}")


class ArgumentInvalid(TextrawlError):
    """An invalid argument."""

    title = "Invalid argument"


class ReadOnly(TextrawlError):
    """READ_ONLY is on and the tool would change something."""

    title = "Memory is read-only"
    fix = "Ask the administrator to unset TEXTRAWL_READ_ONLY, or use query_memory"


class FactNotFound(ArgumentInvalid):
    """An id, a prefix of an id, or a text that names no fact of this entity, or several facts."""

    title = "Fact not found"


class NothingDeleted(TextrawlError):
    """A deletion was not made. `code` is the reason in compact text."""

    code = ""
    message = "Nothing was deleted"
    explained = False
    """True if compact text also contains the fix."""


class NothingToDelete(NothingDeleted):
    """No entity has this `name`. `similar` has names that are close to it."""

    title = "Entity not found"
    fix = "Look for the name with query_memory"
    code = "not_found"

    def __init__(self, name: str, similar: Sequence[str] = ()) -> None:
        super().__init__(f"Did you mean {' or '.join(similar)}?" if similar else None)
        self.explained = bool(similar)
        self.message = f"There is no entity named {name}"


class EntityNotFound(ArgumentInvalid):
    """No entity has this `name`, and the call does not create it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "Create it first, or search for its name; nothing was changed",
            title=f"Entity with name {name} not found",
        )


class NotAuthenticated(TextrawlError):
    """A credential is missing, unknown, expired or revoked."""

    title = "Not authenticated"
    fix = "The token is unknown, expired or revoked: ask the administrator for a new token"


class ScopeMissing(TextrawlError):
    """The caller does not have `scope` in this space."""

    title = "Not allowed"

    def __init__(self, scope: str, has: str) -> None:
        self.scope = scope
        super().__init__(f"This needs the scope {scope}, but {has}: ask the administrator")


class SpaceNotFound(TextrawlError):
    """No space has this name, or the caller has no scope in it. The error does not say which."""

    title = "Space not found"


class DatabaseUnavailable(TextrawlError):
    """Postgres cannot be reached within the time limit."""

    title = "Database unavailable"
    fix = "Retry in a few seconds; nothing was changed, so the call can be repeated"


class ServerBusy(TextrawlError):
    """Every database connection is in use and the queue is full."""

    title = "Server busy"
    fix = "Retry in a second; nothing was changed"


class ServerUnreachable(TextrawlError):
    """A server cannot be reached over HTTP, or its answer is not the answer of textrawl."""

    title = "Server unreachable"
    fix = "Check the address and the network, and retry in a few seconds"


class ItemExists(TextrawlError):
    """`put` with version 0, although the namespace has the key."""

    title = "Item exists"
    fix = "Read its version and put with this version, or put without a version to replace it"


class ItemChanged(TextrawlError):
    """`put` with a version that is not the current one. Nothing was changed."""

    title = "Item changed"
    fix = "Somebody else wrote or deleted it: get the item again, and put with its version"
