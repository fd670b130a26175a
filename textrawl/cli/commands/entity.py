"""`textrawl entity` and `textrawl me`: descriptions, aliases, merges, and which one you are."""

from typing import Annotated

import typer

from textrawl.cli.console import (
    count,
    show_rows,
    write_message,
    write_result,
)
from textrawl.cli.inputs import (
    AsJson,
    DryRun,
    EntityName,
    SpaceName,
    WrittenSpace,
    argument,
    option,
    read_fact,
    read_name,
)
from textrawl.cli.questions import CLIENT, ask, find_answer, has_memory
from textrawl.host.question import build_call
from textrawl.memory.command_results import (
    AliasRow,
    DescribedRow,
    MergeRow,
    NamedRow,
    OwnRow,
    SamePair,
    SplitRow,
    UnnamedRow,
)

entity = typer.Typer(no_args_is_help=True)
alias = typer.Typer(help="Add, remove and list aliases of entities.", no_args_is_help=True)
entity.add_typer(alias, name="alias")

_Other = Annotated[str, argument("OTHER", "The same entity under another name.", read_name)]
_Alias = Annotated[str, argument("ALIAS", "Another name of the entity.", read_name)]
_Description = Annotated[str, argument("TEXT", "The description, in a sentence.", read_fact)]
_OptionalName = Annotated[str | None, argument("[NAME]", "Only this entity.", read_name)]
_Merged = Annotated[str, argument("NAME", "A name that the merged entity had.", read_name)]
_Limit = Annotated[int, option("N", "Maximum number of pairs.", min=1, max=1000)]
_LeastScore = Annotated[float, option("--min-score S", "Smallest score of a pair.", min=0, max=1)]


@entity.command()
def merge(
    name: EntityName,
    other: _Other,
    dry_run: DryRun = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Merge OTHER into NAME: facts, relations and names of OTHER go to NAME.

    `textrawl entity split OTHER` takes the merge back.
    """
    row = ask("merge", MergeRow, space, name=name, other=other, dry_run=dry_run)
    verb = "Would merge" if dry_run else "Merged"
    write_result(
        row,
        f"{verb} {row.merged_name} ({row.merged_type}) into {row.kept_name} ({row.kept_type})",
        _count(row.facts, row.relations),
        f"Already known: {_count(row.duplicate_facts, row.duplicate_relations)}",
        *[f"  {one['content']}" for one in row.collapsing],
        as_json=as_json,
    )


@entity.command()
def split(
    name: _Merged,
    dry_run: DryRun = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Take a merge back, so that there are two entities again.

    Facts that were stored since the merge under NAME go to the entity of that name. All other
    facts stay.
    """
    row = ask("split", SplitRow, space, name=name, dry_run=dry_run)
    verb = "Would split" if dry_run else "Split"
    write_result(
        row,
        f"{verb} {row.merged_name} from {row.kept_name}",
        f"{_count(row.facts, row.relations)} of {row.merged_name}",
        *[f"  since the merge, {one['entity']}: {one['content']}" for one in row.later],
        as_json=as_json,
    )


@entity.command()
def same(
    name: _OptionalName = None,
    min_score: _LeastScore = 0.5,
    limit: _Limit = 20,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Find entities that may be one entity under two names. Nothing is merged."""
    pairs = ask("find_same", list[SamePair], space, name=name, least_score=min_score, limit=limit)
    show_rows(
        pairs,
        ("keep", "other", "score", "shared facts", "shared relations", "space"),
        lambda pair: [
            pair.entity_name,
            pair.other_name,
            f"{pair.score:.2f}",
            str(pair.shared_facts),
            str(pair.shared_relations),
            pair.space,
        ],
        as_json=as_json,
    )


@entity.command()
def describe(
    name: EntityName, text: _Description, space: WrittenSpace = None, as_json: AsJson = False
) -> None:
    """Say in a sentence what an entity is, in place of its former description.

    The description is a fact of the entity, so a search finds it, and `textrawl forget` deletes it.
    """
    row = ask("set_description", DescribedRow, space, name=name, text=text)
    write_result(row, f"{row.entity_name}: {text}", as_json=as_json)


@alias.command("add")
def add_alias(
    name: EntityName, other: _Alias, space: WrittenSpace = None, as_json: AsJson = False
) -> None:
    """Give an entity another name."""
    row = ask("add_alias", NamedRow, space, name=name, other=other)
    write_result(row, f"{row.stored_alias} is a name of {row.entity_name}", as_json=as_json)


@alias.command("remove")
def remove_alias(other: _Alias, space: WrittenSpace = None, as_json: AsJson = False) -> None:
    """Remove a wrong alias. Facts that were written under it stay."""
    row = ask("remove_alias", UnnamedRow, space, other=other)
    line = f"{row.stored_alias} is no longer a name of {row.entity_name}"
    write_result(row, line, as_json=as_json)


@alias.command("list")
def list_aliases(
    name: _OptionalName = None, space: SpaceName = None, as_json: AsJson = False
) -> None:
    """List the aliases of an entity, or of all entities."""
    rows = ask("list_aliases", list[AliasRow], space, name=name)
    show_rows(
        rows,
        ("entity", "alias", "author", "merged", "space"),
        lambda row: [
            row.entity_name,
            row.alias,
            row.author,
            "yes" if row.merged else "",
            row.space,
        ],
        as_json=as_json,
    )


def _count(facts: int, relations: int) -> str:
    return f"{count(facts, 'fact')}, {count(relations, 'relation')}"


_Name = Annotated[str | None, argument("[NAME]", "The entity that you are.", read_name)]
_Clear = Annotated[bool, option("--clear", "Forget which entity you are.")]
_WHO = "Who are you? Give your name, so that `I` in your questions means you, or nothing"


def me(
    name: _Name = None, clear: _Clear = False, space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Say which entity you are, so that `I` and `my` in your questions mean it.

    The memory keeps this for your actor, in each space that has the entity. All searches
    with your tokens, hooks and commands use it. Without NAME, show who you are.
    """
    if clear and name is not None:
        raise typer.BadParameter("give a NAME or --clear, not both")
    if clear:
        rows = ask("clear_own", list[OwnRow], space)
    elif name is not None:
        rows = ask("set_own", list[OwnRow], space, name=name)
    else:
        rows = ask("list_own", list[OwnRow], space)
    if not (rows or as_json):
        write_message("The memory does not know who you are: name your entity, `textrawl me NAME`.")
        return
    lead = f"You are{' no longer' if clear else ' now' if name is not None else ''}"
    lines = [f"{lead} {row.entity_name} ({row.entity_type}) in {row.space}" for row in rows]
    write_result(rows, *lines, as_json=as_json)


def introduce() -> bool:
    """Ask on the terminal who the user is, unless the memory knows it. An empty answer is a no.

    The person is stored, and so is the memory, if there is none yet. Return whether the memory has
    learnt it now. Raises TextrawlError, StartRefused.
    """
    if has_memory() and ask("list_own", list[OwnRow]):
        return False
    typed = typer.prompt(_WHO, default="", show_default=False, err=True)
    if not typed.strip():
        return False
    name, fact = read_name(typed), {"observation": "uses this memory", "source": "manual"}
    person = {"entityName": name, "entityType": "person", **fact}
    find_answer(build_call("remember_fact", person, client=CLIENT, person=True), create=True)
    [own, *_] = ask("set_own", list[OwnRow], name=name)
    write_message(f"You are {own.entity_name} in {own.space}: `textrawl me` changes it.")
    return True
