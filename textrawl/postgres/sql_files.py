"""The files of sql/, and the creation and removal of functions and views in a database."""

import hashlib
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, LiteralString, cast

from psycopg import AsyncConnection

from textrawl.errors import StartRefused

_TABLES = "migrations"
_VIEWS = "views"
_GRANTS = "grants"
_CLUSTERED = ("cells", "cluster")  # only a distributed memory has these functions
_VIEW = re.compile(r"^create (?:or replace )?view textrawl\.(\w+)", re.MULTILINE)
_FIRST_STEPS = {
    "database": "With the version that made it",
    "backup": "Restore it with the version that made it. Then, with that version",
}


def _find_sql() -> Traversable:
    """Return the folder sql/. In an installation it is in the package, in a checkout beside it."""
    installed = resources.files("textrawl") / "sql"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "sql"


def list_folders() -> list[str]:
    """Return the names of the folders of sql/ with functions. Each function has its own file."""
    names = {folder.name for folder in _find_sql().iterdir() if folder.is_dir()}
    return sorted(names - {_TABLES, _VIEWS, *_CLUSTERED})


def read_folder(*names: str) -> dict[str, LiteralString]:
    """Return the texts of the files in some folders of sql/, sorted by name, without grants."""
    files = [file for name in names for file in (_find_sql() / name).iterdir()]
    texts = {
        file.name[:-4]: file.read_text("utf-8") for file in files if file.name.endswith(".sql")
    }
    # The files are a part of the package, so they are as safe as the literals in this file.
    return cast(
        "dict[str, LiteralString]",
        {name: text for name, text in sorted(texts.items()) if name != _GRANTS},
    )


def read_grants() -> LiteralString:
    """Return the grants of all folders. Only the owner can call a function without a grant."""
    files = [
        file
        for name in (*list_folders(), _VIEWS)
        if (file := _find_sql() / name / f"{_GRANTS}.sql").is_file()
    ]
    return cast("LiteralString", "\n".join(file.read_text("utf-8") for file in files))


def find_missing(recorded: set[str], subject: Literal["database", "backup"]) -> list[str]:
    """Return the migrations that a database or a backup does not have yet, in order.

    Raises StartRefused if the database or backup was made by a newer version, or by a version from
    before the first release.
    """
    refuse_unreleased(recorded, subject)
    files = read_folder("migrations")
    if unknown := recorded - files.keys():
        raise _refuse_newer(subject, max(unknown))
    return [name for name in files if name not in recorded]


def _refuse_newer(subject: str, newest: str) -> StartRefused:
    return StartRefused(
        f"The {subject} was made by a newer textrawl (it has {newest}): upgrade textrawl"
    )


def refuse_unreleased(recorded: set[str], subject: Literal["database", "backup"]) -> None:
    """Raise StartRefused if a version from before the first release made a database or backup.

    Released migrations never change. So a newer version has all migrations of this version. A
    version from before the first release has unknown migrations, and lacks some migrations of this
    version. If the unknown ones have higher numbers, it was a newer one, and the error says so.
    """
    files = read_folder("migrations").keys()
    if (unknown := recorded - files) and files - recorded:
        if max(unknown) > max(files):
            raise _refuse_newer(subject, max(unknown))
        raise StartRefused(
            f"The {subject} was made by a textrawl from before the first release (it has "
            f"{min(unknown)}), and this version cannot change its tables. {_FIRST_STEPS[subject]}, "
            "run `textrawl export memory.jsonl`. Finally run `textrawl migrate` and "
            "`textrawl import memory.jsonl` with this version on a new database or "
            "TEXTRAWL_DATA_DIR. Tokens, grants and the trail are not exported"
        )


def read_catalogue() -> str:
    """Return the tables and types that this version expects in a database, as the file has them."""
    return (_find_sql() / "catalogue.txt").read_text("utf-8")


def read_catalogue_query() -> LiteralString:
    """Return the query for the tables, types and functions of a database."""
    return cast("LiteralString", (_find_sql() / "catalogue.sql").read_text("utf-8"))


def list_views() -> list[str]:
    """Return the names of all views, with those that functions read."""
    texts = (read_folder("shared") | read_folder(_VIEWS)).values()
    return [name for text in texts for name in _VIEW.findall(text)]


def read_restrictions() -> LiteralString:
    """Return the SQL with which a superuser restricts the storage and the locks of logins."""
    return cast("LiteralString", (_find_sql() / "restrictions.sql").read_text("utf-8"))


def order_functions(functions: dict[str, LiteralString]) -> list[str]:
    """Return functions and the view `fact`, each of them after all functions that it uses."""
    graph = {
        name: {word for word in re.findall(r"textrawl\.(\w+)", text) if word in functions} - {name}
        for name, text in functions.items()
    }
    return list(TopologicalSorter(graph).static_order())


def describe_views() -> dict[str, str]:
    """Return the views for analysts, each with the first sentence of its comment."""
    comment = re.compile(r"^comment on view textrawl\.\w+ is '(.+?)(?:; |\. |\.';)", re.MULTILINE)
    return {name: comment.findall(text)[0] for name, text in read_folder(_VIEWS).items()}


@cache
def describe_columns() -> dict[str, list[str]]:
    """Return the views for analysts, each with its columns."""
    column = re.compile(r"^comment on column textrawl\.\w+\.(\w+) is", re.MULTILINE)
    return {name: column.findall(text) for name, text in read_folder(_VIEWS).items()}


@cache
def read_fingerprint() -> str:
    """Return a hash of all functions, views and grants, as they were at the first call."""
    texts = read_folder(*list_folders(), _VIEWS) | {_GRANTS: read_grants()}
    return hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in texts.items()).encode()).hexdigest()


async def drop_code(connection: AsyncConnection) -> None:
    """Drop views and functions, except those that policies and triggers call, and `embedding`.

    Policies and triggers belong to tables, and changing their functions would lock these tables.
    Calls lock the views `fact` and `embedding` in any order, so dropping both would deadlock with
    them. `embedding` reads tables only: a migration that changes its columns drops it.
    """
    # Drop all views for analysts, then all functions, each in one statement because of their
    # dependencies. Functions read the view `fact`, so drop it last.
    await connection.execute("""
        do $$
        declare
            names text;
        begin
            select string_agg(oid::regclass::text, ', ') into names from pg_class
            where relnamespace = 'textrawl'::regnamespace and relkind = 'v'
                and relname not in ('fact', 'embedding');
            if names is not null then
                execute 'drop view ' || names;
            end if;
            select string_agg(oid::regprocedure::text, ', ') into names from pg_proc
            where pronamespace = 'textrawl'::regnamespace and not exists (
                select from pg_depend d where d.refobjid = pg_proc.oid
                and d.classid in ('pg_policy'::regclass, 'pg_trigger'::regclass));
            if names is not null then
                execute 'drop function ' || names;
            end if;
            drop view if exists textrawl.fact;
        end
        $$""")


async def create_code(connection: AsyncConnection) -> None:
    """Create functions, views, policies and grants, and record their fingerprint."""
    functions = read_folder(*list_folders())
    for name in order_functions(functions):
        await connection.execute(functions[name])
    for view in read_folder(_VIEWS).values():
        await connection.execute(view)
    await connection.execute("revoke execute on all functions in schema textrawl from public")
    await connection.execute("grant usage on schema textrawl to textrawl_app, textrawl_analyst")
    await connection.execute(read_grants())
    await connection.execute("select protect_tables()")
    await connection.execute("select unite_embeddings() where to_regclass('embedding') is null")
    await connection.execute(
        """insert into code (fingerprint) values (%s)
           on conflict (singleton) do update set fingerprint = excluded.fingerprint""",
        (read_fingerprint(),),
    )
