"""A small memory to look at: long words, several spaces' worth of history, hostile texts."""

import psycopg

_LONG = "w" + "o" * 150 + "rd"
_FACTS = (
    ("Ada", "person", "prefers green tea"),
    ("Ada", "person", "lives in Oslo"),
    ("Ada", "person", f"writes long words such as {_LONG} without a break"),
    ("Ben", "person", "likes tea at noon, and a very long explanation of why that is so " * 8),
    (f"Project {_LONG}", "project", "has a name that does not fit"),
    ("<script>alert(1)</script>", "concept", '"><img src=x onerror=alert(1)>'),
)


def fill(owner: psycopg.Connection, space: str = "team") -> None:
    """Store the memory as different clients would."""
    number = "(select id from space where name = %(space)s)"
    for entity, kind, fact in _FACTS:
        owner.execute(
            f"select remember_fact(%(e)s, %(k)s, %(f)s, space => {number}, client => 'editor 1.0',"  # noqa: S608, RUF100 - ours
            " tool => 'remember_fact')",
            {"e": entity, "k": kind, "f": fact, "space": space},
        )
    owner.execute(
        f"select remember_fact('A. Lovelace', 'person', 'lives in Oslo', space => {number}),"
        f" merge_entities('Ada', 'A. Lovelace', space => {number}),"
        f" name_entity('Ada', 'Countess', space => {number})",
        {"space": space},
    )
    owner.execute(
        "select remember_fact('Ada', 'person', 'lives in Rome', replaces => 'lives in Oslo',"
        f" space => {number}, client => 'chat 2.1', tool => 'remember_fact'),"
        f" relate_entities('Ada', 'works_with', 'Ben', space => {number}),"
        f" relate_entities('Ada', 'leads', 'Project {_LONG}', space => {number})",
        {"space": space},
    )
