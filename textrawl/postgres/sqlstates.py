"""The SQLSTATEs that textrawl's SQL functions raise, each with the error that a caller sees.

A test compares this table with every `errcode` in sql/.
"""

from collections.abc import Callable

from textrawl import errors

SAME_ENTITY = "TR005"
ENDS_BEFORE = "TR098"
BATCH_REFUSED = "TR006"
ANOTHER_MODEL_IS_ACTIVE = "TR040"
MODEL_DROPPED = "TR049"
ENTITY_NOT_FOUND = "TR050"
NUMBER_NOT_FOUND = "TR052"
MEMORY_NOT_FOUND = "TR053"
GRAPH_NOT_FOUND = "TR063"
CHUNK_CHANGED = "TR069"
NODE_NOT_FOUND = "TR080"
EDGE_NOT_FOUND = "TR083"
FILE_CHANGED = "TR091"
CELL_MOVED = "TR094"

Explain = Callable[[str, str], errors.TextrawlError]
"""A function that makes an error from the detail of the SQL error and the refused parameter."""


def _of_fact(reason: str) -> Explain:
    return lambda _, parameter: errors.FactNotFound(f"{parameter}: {reason}")


def _invalid(title: str, fix: str) -> Explain:
    """Return a function that puts the detail into `title` and `fix` in place of {}."""
    return lambda detail, _: errors.ArgumentInvalid(
        fix.format(detail), title=title.format(detail or "''")
    )


FACT_REASONS = {
    "TR001": "names no fact of this entity: give its id, 8 or more characters of it, or its text",
    "TR002": "names more than one fact of this entity: give more characters of its id",
    "TR003": "names a fact that is no longer valid: remember the new fact without replaces",
    SAME_ENTITY: "is the same entity as fromEntity: a relation needs two",
    ENDS_BEFORE: "must lie after the begin of the period, validFrom",
}
"""The refusals that a batch can report for each of its items."""

ACCESS: dict[str, Explain] = {
    "TR010": lambda _detail, _parameter: errors.NotAuthenticated(),
    "TR011": lambda scope, _: errors.ScopeMissing(scope or "read", "this token does not have it"),
    "TR012": lambda _detail, _parameter: errors.SpaceNotFound(
        "More than one space may be written: connect to /mcp/{space}, or set TEXTRAWL_SPACE"
    ),
    "TR013": lambda _detail, _parameter: errors.ScopeMissing(
        "admin", "only the owner of the memory may do this"
    ),
    "TR015": lambda _detail, _parameter: errors.OnlyProposes(),
    "TR014": lambda _detail, _parameter: errors.IssuerRefused(),
    "TR060": lambda space, _: errors.SpaceIsGraph(space),
    CELL_MOVED: lambda _detail, _parameter: errors.DatabaseUnavailable(
        "The space is being moved to another worker: retry in a few seconds; nothing was changed"
    ),
    "TR096": lambda _detail, _parameter: errors.DatabaseUnavailable(
        "The memory was distributed while this server ran: restart the server"
    ),
    "TR097": lambda _detail, _parameter: errors.DatabaseUnavailable(
        "The coordinator of the cluster cannot register a new author now: retry in a few seconds"
    ),
}
"""Refusals that have the same meaning for every call, so callers need not explain them."""

REFUSALS: dict[str, Explain] = {
    **{
        code: _of_fact(reason)
        for code, reason in FACT_REASONS.items()
        if code not in (SAME_ENTITY, ENDS_BEFORE)
    },
    "TR004": _invalid(
        "The vectors of {} have another size than its stored vectors",
        "use a model with another name",
    ),
    SAME_ENTITY: lambda _, parameter: errors.ArgumentInvalid(
        f"{parameter}: {FACT_REASONS[SAME_ENTITY]}"
    ),
    ENDS_BEFORE: lambda _detail, _parameter: errors.ArgumentInvalid(
        f"validUntil: {FACT_REASONS[ENDS_BEFORE]}", title="Empty period"
    ),
    "TR007": lambda _detail, parameter: errors.ArgumentInvalid(
        f"{parameter}: there is no such relation to end: look up the entity for its relations",
        title="Relation not found",
    ),
    BATCH_REFUSED: lambda detail, _: errors.ArgumentInvalid(f"Nothing was stored. {detail}"),
    **ACCESS,
    "TR018": _invalid(
        "The fact was revised already", "look up the entity: it shows the fact that is right"
    ),
    "TR019": _invalid(
        "The {} of this revision cannot be used",
        "give a reason of 1 to 500 characters, and a new text that differs from the wrong fact",
    ),
    "TR016": _invalid(
        "No proposal {} is pending", "list_proposals and `textrawl review list` show their ids"
    ),
    "TR017": _invalid(
        "Wrong decision",
        "accept or reject; a rejection has a reason of 1 to 500 characters, and only a fact can be "
        "accepted with another text",
    ),
    "TR008": _invalid(
        "The proposal {} can no longer be stored",
        "nothing was decided: its validUntil has passed, its fact is pinned, the fact that it "
        "is about has ended or is gone, or its two entities are one now; reject it",
    ),
    "TR009": _invalid("Wrong number of days", "use 1 to 3650, or none if proposals do not expire"),
    "TR020": _invalid("No space {}", "see `textrawl space list`"),
    "TR021": _invalid("The space {} exists already", "choose another name"),
    "TR022": _invalid("No valid token {}", "see `textrawl token list`, with --json for ids"),
    "TR023": _invalid("Nothing is granted to {} there", "see `textrawl grant list`"),
    "TR024": _invalid(
        "A space cannot be called {}",
        "use 1 to 63 of a-z, 0-9, - and _, and begin with a letter or digit",
    ),
    "TR025": _invalid("An actor cannot be called {}", "use 1 to 200 characters"),
    "TR026": _invalid(
        "Wrong scopes: {}", "use read, propose, write, forget, review, admin, metrics"
    ),
    "TR027": _invalid(
        "This login cannot act as an actor: {}", "create a login with `create role … login`"
    ),
    "TR028": _invalid("{} is the first space, which cannot be archived", "rename it instead"),
    "TR029": _invalid("This token cannot be made: {}", "see `textrawl token --help`"),
    "TR030": _invalid("No such author", "`textrawl log` shows who wrote"),
    "TR031": _invalid(
        "No such undo", "it does not exist, was reverted already, or its content was purged"
    ),
    "TR032": _invalid(
        "A later undo changed the same rows", "revert it first: `textrawl undo --revert {}`"
    ),
    "TR033": _invalid(
        "No language {}",
        "use a text search configuration of this Postgres, such as german, or simple; "
        "`select cfgname from pg_ts_config` shows all",
    ),
    "TR034": _invalid(
        "The name {} belongs to another entity",
        "merge the two entities if they are the same, or choose another alias",
    ),
    "TR035": _invalid("{} is not an alias", "look up the entity, or list the aliases"),
    "TR036": _invalid(
        "{} is the name of a merged entity", "split the entity instead: the name then is its own"
    ),
    "TR037": _invalid(
        "Nothing was merged as {}", "give a name of the merged entity; list the aliases to see them"
    ),
    "TR038": _invalid(
        "{} holds the text of a document, so it cannot be merged", "add an alias instead"
    ),
    "TR076": _invalid(
        "The deletion of {} takes something else by now", "look again at what would go"
    ),
    "TR120": _invalid(
        "A name such as {} is too short to be found in texts",
        "give a name of three letters or more",
    ),
    "TR121": _invalid("Nothing can be kept as {}", "keep `others` or `own`"),
    "TR077": _invalid(
        "A statement cannot have the words {}", "read the views and functions beside the field"
    ),
    "TR075": _invalid("Both spaces are the same", "choose another space to share with"),
    ANOTHER_MODEL_IS_ACTIVE: _invalid("Another model is active", "call again"),
    "TR041": _invalid("{} is in use already", "there is nothing to build"),
    "TR042": _invalid("{} is the previous model", "run `textrawl embed rollback` to use it again"),
    "TR043": _invalid(
        "Vectors of {} are being built",
        "run `textrawl embed switch` to use them, or `textrawl embed drop` to delete them",
    ),
    "TR044": _invalid("No other model was built", "see `textrawl embed start --help`"),
    "TR045": _invalid(
        "{} facts have no vector of this model yet", "run `textrawl embed start` again"
    ),
    "TR046": _invalid("No model {}", "see `textrawl embed status`"),
    "TR047": _invalid("There is no previous model", "see `textrawl embed status`"),
    "TR048": _invalid("{} is in use", "switch to another model first"),
    MODEL_DROPPED: _invalid("The embedding model was dropped meanwhile", "call again"),
    ENTITY_NOT_FOUND: lambda name, _: errors.EntityNotFound(name),
    "TR051": lambda _detail, _parameter: errors.ArgumentInvalid(
        "cursor: the entity to continue from was deleted; read again without a cursor"
    ),
    NUMBER_NOT_FOUND: lambda _, kind: errors.ArgumentInvalid(
        f"target_id: no {kind} has this id; open_nodes with includeIds shows ids"
    ),
    MEMORY_NOT_FOUND: _invalid("Memory not found: {}", "search_memory and save_memory show ids"),
    "TR054": _invalid(
        "Wrong policy: {}", "`textrawl space decay SPACE` shows the names and values"
    ),
    "TR055": _invalid(
        "This text is a part of the journal entry {}",
        "correct the entry with memory_update, or delete it with memory_delete",
    ),
    "TR056": _invalid(
        "Wrong key of a journal entry: {}",
        "give the date of a day as 2026-05-12 (daily, significant), of a week as 2026-W19, of a "
        "month as 2026-05, or of a year as 2026; a daily entry also has an instanceId, and a "
        "significant entry a slug such as first-conversation; nothing was changed",
    ),
    "TR057": _invalid(
        "The entry would have {} characters",
        "an entry has 1 to 200,000 characters: write less, or use another entry; "
        "nothing was changed",
    ),
    "TR058": _invalid(
        "{} entries have this key", "give instanceId or slug, as memory_read shows them"
    ),
    "TR090": _invalid(
        "No identity file can be called {}",
        "use a category (self, user, relationship, custom) and a filename of letters, digits, _ "
        "and - with .md at the end, at most 100 characters",
    ),
    FILE_CHANGED: _invalid("Others keep changing {}", "call again; nothing was changed"),
    "TR092": _invalid(
        "{} would have more than 1,000,000 characters", "shorten it; nothing was changed"
    ),
    "TR093": _invalid(
        "{} is not a prompt label",
        "use letters, digits, _, - and ., begin with a letter or _, at most 100 characters",
    ),
    "TR059": _invalid(
        "Version {} is not of this memory", "pull without lastSyncVersion; nothing was changed"
    ),
    "TR061": _invalid(
        "Wrong tier of a graph",
        "use the tier public, personal or sensitive, and 0 to 100,000 tokens for each answer",
    ),
    "TR062": _invalid(
        "The space {} cannot become a graph",
        "it is the default space or has content: create a graph with `textrawl space create`",
    ),
    GRAPH_NOT_FOUND: _invalid("No graph {}", "use the name of a graph that the tool stats lists"),
    "TR064": _invalid(
        "The text has {} characters",
        "a source has 1 to 5,000,000 characters: split it; nothing was changed",
    ),
    "TR065": _invalid(
        "Wrong form of a source or a correction",
        "see the comment of the SQL function for the form; nothing was changed",
    ),
    "TR066": _invalid("Source not found", "use an id that recall shows"),
    "TR067": _invalid("The source has no chunk {}", "use a chunkId that recall shows"),
    "TR068": _invalid(
        "Correction not found",
        "a correction can be applied once, within ten minutes: call correct again",
    ),
    CHUNK_CHANGED: _invalid(
        "The chunk was changed meanwhile", "call recall and correct again; nothing was changed"
    ),
    "TR070": _invalid(
        "A login cannot be called {}",
        "use 1 to 63 of a-z, 0-9 and _, and do not begin with a digit",
    ),
    "TR071": _invalid("The login {} exists already", "choose another name, or drop that role"),
    "TR072": _invalid(
        "The login of TEXTRAWL_DATABASE_URL may not create or drop {}",
        "run this with the TEXTRAWL_DATABASE_URL of an administrator, or let an administrator run "
        "the statements in docs/sql.md",
    ),
    "TR073": _invalid("No analyst has the login {}", "see `textrawl analyst list`"),
    "TR074": _invalid(
        "The login cannot be dropped, because it owns objects or has rights elsewhere: {}",
        "as an administrator, in that database, run `reassign owned by LOGIN to OTHER` and "
        "`drop owned by LOGIN`; then run this again",
    ),
    NODE_NOT_FOUND: _invalid(
        "Node not found: {}", "graph_node_search and graph_node_list show ids"
    ),
    "TR081": _invalid("Another node has this label and type: {}", "use that node"),
    "TR082": _invalid("Another valid edge of this type connects these nodes", "use that edge"),
    "TR099": _invalid(
        "Not an address for a webhook",
        "use https://HOST/PATH without user, password and #, or http://127.0.0.1:PORT/PATH for "
        "this machine",
    ),
    "TR100": _invalid(
        "Wrong kinds of events", "use stored, proposed, decided, forgotten and undone"
    ),
    "TR101": _invalid("The space has 20 webhooks", "remove one first: `textrawl webhook list`"),
    "TR102": _invalid("No webhook {}", "see `textrawl webhook list`"),
    "TR103": _invalid(
        "Not possible for an item: {}",
        "a namespace is a list of 1 to 100 labels, and a label or key a text of 1 to 500 "
        "characters, all labels together at most 2,400 bytes; a filter has $eq, $ne, $gt, $gte, "
        "$lt, $lte and $in with a list",
    ),
    "TR104": _invalid(
        "The value is too long: {} bytes",
        "a value has at most 1,000,000 bytes as JSON, and metadata 100,000: store it in parts",
    ),
    "TR105": lambda _detail, _parameter: errors.ItemExists(),
    "TR106": lambda _detail, _parameter: errors.ItemChanged(),
    "TR107": _invalid(
        "Value is nested too deeply",
        "a value has at most 190 levels of lists and objects: store a part as text",
    ),
    "TR110": _invalid(
        "No such event, or it is undone already",
        "`textrawl log --json` shows the numbers of events",
    ),
    "TR111": _invalid(
        "A later change builds on this one: {}", "undo the later one first, or change it by hand"
    ),
    "TR112": _invalid(
        "This cannot be undone alone: {}",
        "`textrawl entity split` takes a merge back, `textrawl share --move` a move",
    ),
    "TR113": _invalid(
        "There is nothing to dismiss: {}", "look at the list again: an entity or a fact is gone"
    ),
    "TR114": _invalid(
        "Not a fact to pin: {}", "pin a valid fact of at most 200 characters: store a shorter one"
    ),
    "TR115": _invalid(
        "No more facts can be pinned",
        "at most twelve with 2,400 bytes: unpin one of those that `textrawl pin` lists, or decide "
        "those that wait: `textrawl review list`",
    ),
    "TR116": _invalid(
        "Only a person accepts the pin {}",
        "ask the user to decide: `textrawl review accept {}`, or the page of proposals",
    ),
    "TR130": _invalid(
        "The graph {} is not encrypted",
        "only graphs of the tier sensitive are: `textrawl space tier GRAPH sensitive`",
    ),
    "TR131": _invalid(
        "The graph {} holds only encrypted documents",
        "it is sensitive: add files with `textrawl ingest --graph GRAPH`; nothing was changed",
    ),
    "TR132": _invalid(
        "The key of the graph has changed",
        "another process destroyed it meanwhile: run the command again; nothing was changed",
    ),
    "TR133": _invalid(
        "The sources of the graph {} are not encrypted",
        "run `textrawl space tier {} sensitive`, which encrypts them; nothing was changed",
    ),
    "TR134": _invalid(
        "The documents of the graph {} are encrypted",
        "write them to files with `textrawl document show`, and ingest these into a new graph; "
        "nothing was changed",
    ),
    "TR135": _invalid(
        "Another graph has this key", "give each graph a key of its own; nothing was changed"
    ),
    "TR136": _invalid(
        "The other space reviews external facts",
        "share the other facts by their ids, or say the external ones yourself with "
        "`textrawl remember`; nothing was shared",
    ),
    EDGE_NOT_FOUND: _invalid("Edge not found: {}", "graph_edge_get shows ids"),
}


class DataRefused(Exception):
    """The error of a SQL function that refused its arguments.

    `code` is the SQLSTATE, which begins with TR. `detail` is the value that the error names, or
    None.
    """

    def __init__(self, code: str, detail: str | None) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail

    def explain(self, parameter: str = "") -> errors.TextrawlError:
        """Return the error for the caller. `parameter` names the refused parameter."""
        return REFUSALS[self.code](self.detail or "", parameter)
