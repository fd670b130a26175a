"""The commands `remember`, `recall` and `digest`."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from textrawl import __version__
from textrawl.cli.administration import require_memory
from textrawl.cli.console import (
    open_console,
    show_wait,
    write_cell,
    write_error,
    write_json,
    write_message,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import (
    AsJson,
    EntityName,
    FactLimit,
    MaxTokens,
    SpaceName,
    WrittenSpace,
    read_end,
    read_fact,
    read_name,
    read_query,
    read_reference,
    read_type,
)
from textrawl.cli.quick import (
    STDIN,
    Request,
    ask_running,
    build_digest,
    build_recall,
    read_stdin,
    show,
)
from textrawl.errors import MemoryNotEnabled
from textrawl.resident.client import (
    NotListening,
    ResidentRefused,
    SocketAnswer,
    Unreachable,
    build_call,
    complete,
    read_answer,
)
from textrawl.settings import read_settings
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import SHORT_ID, count_cleaned


def find_answer(request: Request, *, create: bool = False) -> SocketAnswer:
    """Return the answer to `request`.

    With `create`, the embedded Postgres is created if it does not exist. Without it, this process
    changes nothing, and does not record the recall. Raises TextrawlError,
    StartRefused.
    """
    try:
        return ask_running(request)
    except Unreachable as error:
        if not isinstance(error, NotListening | ResidentRefused):
            write_error(f"{error}: this command opens the memory itself")
    return _open_and_answer(request, create=create)


def _open_and_answer(request: Request, *, create: bool) -> SocketAnswer:
    # A running process answers most requests, and these modules take 70 ms to load.
    from textrawl.resident import answers, listener  # noqa: PLC0415 - see above

    settings = read_settings()
    if not settings.enable_memory:
        raise MemoryNotEnabled
    if not create:
        settings = settings.model_copy(update={"read_only": True})
        if settings.server_url is None:
            require_memory(settings)

    async def run() -> SocketAnswer:
        async with listener.open_tools(settings, serving=False) as tools:
            answer = await answers.answer(tools, json.dumps(complete(request)).encode())
            return read_answer(answer)

    with show_wait("Opening the memory"):
        return run_foreground(run)


_Question = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[QUESTION...]",
        help="A question or keywords. - or nothing means the text on stdin.",
    ),
]


def recall(
    question: _Question = None,
    limit: FactLimit = 10,
    max_tokens: MaxTokens = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Print facts that answer a question, in few tokens and quickly.

    Each fact is one line with its score from 0 to 100, below the name of its entity. If a server or
    `textrawl resident` has the memory open, the answer takes some milliseconds.
    """
    words = question or []
    text = read_stdin() if words in ([], [STDIN]) else " ".join(words)
    if text is None:
        raise typer.BadParameter("give a question, or pipe one to stdin", param_hint="QUESTION")
    query = read_query(text, "QUESTION")
    request = build_recall(query, limit=limit, max_tokens=max_tokens, space=space)
    show(find_answer(request), as_json=as_json)


_Project = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", parser=read_name, help="Name of the project that you begin to work on."
    ),
]


def digest(
    project: _Project = None,
    max_tokens: MaxTokens = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Print the facts that matter at the start of a conversation.

    They are about the project, people, preferences and open questions. Without --max-tokens they
    have at most TEXTRAWL_DIGEST_TOKENS tokens (300).
    """
    request = build_digest(project=project, max_tokens=max_tokens, space=space)
    show(find_answer(request), as_json=as_json)


_EntityType = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        parser=read_type,
        help=f"Type of a new entity: {', '.join(ENTITY_TYPES)}, or another word.",
    ),
]
_Until = Annotated[
    datetime | None,
    typer.Option(metavar="TIME", parser=read_end, help="When the fact stops being true."),
]
_Replaces = Annotated[
    str | None,
    typer.Option(
        metavar="FACT",
        parser=read_reference,
        help="The fact to correct: its id, the first 8 characters of its id, or its text.",
    ),
]


def remember(  # noqa: PLR0913, PLR0917 - each argument is an option
    name: EntityName,
    fact: Annotated[
        str | None,
        typer.Argument(
            metavar="[FACT]", help="Text of the fact. - or nothing means the text on stdin."
        ),
    ] = None,
    entity_type: _EntityType = None,
    until: _Until = None,
    replaces: _Replaces = None,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Store a fact about an entity.

    An entity that does not exist yet is created. An entity that exists keeps its type.
    """
    arguments = {
        "entityName": name,
        "entityType": entity_type,
        "observation": _read_text(fact),
        "source": "manual",
        "validUntil": until.isoformat() if until else None,
        "replaces": replaces,
    }
    request = build_call(
        "remember_fact", arguments, client=f"textrawl {__version__}", space=space or None
    )
    stored = find_answer(request, create=True).content
    if as_json:
        write_json(_describe(stored))
    else:
        _show(stored)


def _describe(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "duplicate": stored.get("duplicate", False),
        "entity_id": stored.get("entityId"),
        "entity_name": stored["entityName"],
        "entity_type": stored["entityType"],
        "observation_id": stored.get("observationId"),
        "proposal_id": stored.get("proposalId"),
        "updated": stored.get("updated", False),
        "closest": stored.get("similar"),
        **({"secrets": found} if (found := stored.get("secrets")) else {}),
    }


def _show(stored: Mapping[str, Any]) -> None:
    identity = stored.get("proposalId") or stored["observationId"]
    lines = [f"{stored['message']}: {identity[:SHORT_ID]}"]
    if closest := stored.get("similar"):
        why = closest.get("why")
        kind = f"{why.capitalize()} on {closest['on']}" if why else "Close fact"
        lines.append(f"{kind}: {closest['id'][:SHORT_ID]} {closest['content']}")
    if found := stored.get("secrets"):
        lines.append(f"It looks like a secret: {', '.join(found)}")
    console = open_console()
    for line in lines:
        console.print(write_cell(line), soft_wrap=True)


def _read_text(argument: str | None) -> str:
    """Return the fact as it is stored. Raises BadParameter."""
    text = read_stdin() if argument in (None, STDIN) else argument
    if text is None:
        raise typer.BadParameter("give a fact, or pipe one to stdin", param_hint="FACT")
    if count_cleaned(text):
        write_message("The fact is stored without hidden characters")
    try:
        return read_fact(text)
    except typer.BadParameter as error:  # typer adds the name only while it parses arguments
        raise typer.BadParameter(error.message, param_hint="FACT") from None
