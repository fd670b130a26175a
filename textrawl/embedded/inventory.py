"""An inventory of a cluster, which is used to compare a copy with its original."""

from dataclasses import dataclass

import psycopg
from psycopg import sql

from textrawl.embedded.cluster import Cluster
from textrawl.embedded.configuration import SUPERUSER

_DATABASES = """
    select datname from pg_database where datallowconn and not datistemplate order by datname
"""
_TABLES = """
    select nspname, relname from pg_class join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'm', 'p') and nspname !~ '^pg_' and nspname <> 'information_schema'
"""
_EXTENSIONS = "select extname from pg_extension"
_ROLES = "select rolname, rolpassword from pg_authid where rolname !~ '^pg_'"


@dataclass(frozen=True)
class Inventory:
    """Row counts of tables by full name, roles with their passwords, and extensions."""

    tables: dict[str, int]
    roles: frozenset[tuple[str, str | None]]
    extensions: frozenset[str]

    def find_differences(self, other: "Inventory") -> list[str]:
        """Describe each table, role or extension that is different in `other`."""
        names = sorted(self.tables.keys() | other.tables.keys())
        counts = [(name, self.tables.get(name), other.tables.get(name)) for name in names]
        return [
            *(f"{name} has {was} rows, not {now}" for name, now, was in counts if now != was),
            *(f"role {name}" for name in sorted({name for name, _ in self.roles ^ other.roles})),
            *(f"extension {name}" for name in sorted(self.extensions ^ other.extensions)),
        ]


def take_inventory(cluster: Cluster) -> Inventory:
    """Return the inventory of all databases of `cluster`. Raises psycopg.Error."""
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres")) as connection:
        databases = [str(name) for (name,) in connection.execute(_DATABASES)]
        roles = frozenset((name, password) for name, password in connection.execute(_ROLES))
    tables: dict[str, int] = {}
    extensions: set[str] = set()
    for database in databases:
        with psycopg.connect(cluster.dsn(SUPERUSER, database)) as connection:
            extensions |= {f"{database}.{name}" for (name,) in connection.execute(_EXTENSIONS)}
            for schema, table in connection.execute(_TABLES).fetchall():
                tables[f"{database}.{schema}.{table}"] = _count(connection, schema, table)
    return Inventory(tables, roles, frozenset(extensions))


def _count(connection: psycopg.Connection, schema: str, table: str) -> int:
    query = sql.SQL("select count(*) from {}").format(sql.Identifier(schema, table))
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
