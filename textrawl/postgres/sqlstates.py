"""The SQLSTATEs that textrawl's SQL functions raise, each with the error that a caller sees.

This is the one table of them. A test compares it with every `errcode` in sql/.
"""

from collections.abc import Callable

from textrawl import errors

SAME_ENTITY = "TR005"
BATCH_REFUSED = "TR006"
ANOTHER_MODEL_IS_ACTIVE = "TR040"
MODEL_DROPPED = "TR049"
ENTITY_NOT_FOUND = "TR050"
NUMBER_NOT_FOUND = "TR052"

Explain = Callable[[str, str], errors.TextrawlError]
"""A function of the detail of the SQL error and of the tool's parameter that it is about."""


def _of_fact(reason: str) -> Explain:
    return lambda _, parameter: errors.FactNotFound(f"{parameter}: {reason}")


def _invalid(title: str, fix: str) -> Explain:
    """Return an explanation whose texts have the detail in place of {}."""
    return lambda detail, _: errors.ArgumentInvalid(
        fix.format(detail), title=title.format(detail or "''")
    )


FACT_REASONS = {
    "TR001": "names no fact of this entity: give its id, 8 or more characters of it, or its text",
    "TR002": "names more than one fact of this entity: give more characters of its id",
    "TR003": "names a fact that is no longer valid: remember the new fact without replaces",
    SAME_ENTITY: "is the same entity as fromEntity: a relation needs two",
}
"""The refusals that a batch may report for each of its items."""

ACCESS: dict[str, Explain] = {
    "TR010": lambda _detail, _parameter: errors.NotAuthenticated(),
    "TR011": lambda scope, _: errors.ScopeMissing(scope or "read", "this token does not have it"),
    "TR012": lambda _detail, _parameter: errors.SpaceNotFound(
        "More than one space may be written: connect to /mcp/{space}, or set TEXTRAWL_SPACE"
    ),
    "TR013": lambda _detail, _parameter: errors.ScopeMissing(
        "admin", "only the owner of the memory may do this"
    ),
    "TR014": lambda _detail, _parameter: errors.IssuerRefused(),
}
"""Refusals that mean the same for every call, so no module has to explain them."""

REFUSALS: dict[str, Explain] = {
    **{code: _of_fact(reason) for code, reason in FACT_REASONS.items() if code != SAME_ENTITY},
    "TR004": _invalid(
        "{} sends vectors of other dimensions than before", "build the vectors under another name"
    ),
    SAME_ENTITY: lambda _, parameter: errors.ArgumentInvalid(
        f"{parameter}: {FACT_REASONS[SAME_ENTITY]}"
    ),
    BATCH_REFUSED: lambda detail, _: errors.ArgumentInvalid(f"Nothing was stored. {detail}"),
    **ACCESS,
    "TR020": _invalid("No space {}", "see `textrawl space list`"),
    "TR021": _invalid("There is a space {} already", "choose another name"),
    "TR022": _invalid("No valid token {}", "see `textrawl token list`, with --json for ids"),
    "TR023": _invalid("Nothing is granted to {} there", "see `textrawl grant list`"),
    "TR024": _invalid(
        "A space cannot be called {}", "use 1 to 63 of a-z, 0-9, - and _, a letter or digit first"
    ),
    "TR025": _invalid("An actor cannot be called {}", "use 1 to 200 characters"),
    "TR026": _invalid("Wrong scopes: {}", "use read, write, forget, admin, metrics"),
    "TR027": _invalid(
        "This login cannot act as an actor: {}", "make one with `create role … login`"
    ),
    "TR028": _invalid("{} is the first space, which cannot be archived", "it may be renamed"),
    "TR029": _invalid("This token cannot be made: {}", "see `textrawl token --help`"),
    "TR030": _invalid("No such author", "`textrawl log` shows who wrote"),
    "TR031": _invalid(
        "No such undo", "it is not there, was reverted already, or its content was purged"
    ),
    "TR032": _invalid(
        "A later undo came between", "revert that first: `textrawl undo --revert {}`"
    ),
    ANOTHER_MODEL_IS_ACTIVE: _invalid("Another model is active", "call again"),
    "TR041": _invalid("{} is in use already", "there is nothing to build"),
    "TR042": _invalid("{} is the previous model", "`textrawl embed rollback` goes back to it"),
    "TR043": _invalid(
        "Vectors of {} are being built",
        "run `textrawl embed switch` to use them, or `textrawl embed drop` to delete them",
    ),
    "TR044": _invalid("No other model was built", "see `textrawl embed start --help`"),
    "TR045": _invalid("{} facts have no vector of it yet", "run `textrawl embed start` again"),
    "TR046": _invalid("No model {}", "see `textrawl embed status`"),
    "TR047": _invalid("There is no previous model", "there is nothing to go back to"),
    "TR048": _invalid("{} is in use", "switch to another model first"),
    MODEL_DROPPED: _invalid("The embedding model was dropped meanwhile", "call again"),
    ENTITY_NOT_FOUND: lambda name, _: errors.EntityNotFound(name),
    "TR051": lambda _detail, _parameter: errors.ArgumentInvalid(
        "cursor: the entity where it goes on was deleted; read again without a cursor"
    ),
    NUMBER_NOT_FOUND: lambda _, kind: errors.ArgumentInvalid(
        f"target_id: no {kind} has it; open_nodes with includeIds shows ids"
    ),
    "TR070": _invalid(
        "A login cannot be called {}", "use 1 to 63 of a-z, 0-9 and _, no digit first"
    ),
    "TR071": _invalid("There is a login {} already", "choose another name, or drop that role"),
    "TR072": _invalid(
        "The login of TEXTRAWL_DATABASE_URL may not create or drop {}",
        "run this with the TEXTRAWL_DATABASE_URL of an administrator, or as one run the "
        "statements in docs/sql.md",
    ),
    "TR073": _invalid("No analyst's login {}", "see `textrawl analyst list`"),
    "TR074": _invalid(
        "The login cannot be dropped, it owns something or has rights elsewhere: {}",
        "as an administrator, in that database, run `reassign owned by` it `to` another role and "
        "`drop owned by` it; then run this again",
    ),
}


class DataRefused(Exception):
    """The error of a SQL function that refused its arguments.

    `code` is its SQLSTATE, which begins with TR. `detail` is the value that it names, if any.
    """

    def __init__(self, code: str, detail: str | None) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail

    def explain(self, parameter: str = "") -> errors.TextrawlError:
        """Return the error for the caller; `parameter` names the refused parameter."""
        return REFUSALS[self.code](self.detail or "", parameter)
