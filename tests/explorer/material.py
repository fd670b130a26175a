"""A small memory to look at: long words, several spaces' worth of history, hostile texts."""

import psycopg

from textrawl.access.access_token import hash_token

_LONG = "w" + "o" * 150 + "rd"
_FACTS = (
    ("Ada", "person", "prefers green tea"),
    ("Ada", "person", "lives in Oslo"),
    ("Ada", "person", f"writes long words such as {_LONG} without a break"),
    ("Ben", "person", "likes tea at noon, and a very long explanation of why that is so " * 8),
    (f"Project {_LONG}", "project", "has a name that does not fit"),
    ("Project Atlas", "project", "has a name that fits"),
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
        "update observation set valid_from = now() - interval '40 days'"
        " where content = 'prefers green tea'"
    )
    owner.execute(
        "select remember_fact('Ada', 'person', 'lives in Rome', replaces => 'lives in Oslo',"
        f" space => {number}, client => 'chat 2.1', tool => 'remember_fact'),"
        f" relate_entities('Ada', 'works_with', 'Ben', space => {number}),"
        f" relate_entities('Ada', 'leads', 'Project {_LONG}', space => {number})",
        {"space": space},
    )
    _add_numbers(owner)


def _add_numbers(owner: psycopg.Connection) -> None:
    """Add what only the dashboard shows: facts to compare, stale facts, questions, recalls."""
    owner.execute("select register_embedding_model('fixed', 2)")
    owner.execute(
        "insert into embedding_1 select space_id, id, '[1,0]' from fact"
        " where content ~ 'Oslo|Rome|tea'"
    )
    owner.execute("update observation set confidence = 0.4 where content ~ 'tea|<img|words'")
    owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, verbose_tokens,"
        " budget, items, dropped, query, query_hash, milliseconds)"
        " select min(space_id), now() - n * interval '3 days', 'search', 'lines', false, 300 * n,"
        " 900 * n, 50, 0, 0, %s || n %% 3, n %% 3, 3 + n"
        " from observation, generate_series(1, 9) n group by n",
        (f"who {_LONG} ",),
    )


def write_texts(owner: psycopg.Connection, text: str, credential: bytes | None = None) -> None:
    """Write a journal entry, an identity file with a snapshot, and a memory that fades."""
    owner.execute(
        "select write_entry('daily', '2026-05-01', %(text)s, 'laptop', credential => %(who)s),"
        " write_identity('self', 'my_identity.md', 'I was new', credential => %(who)s),"
        " save_memory(to_jsonb(%(text)s || ' and fades'), credential => %(who)s,"
        "  moment => now() - interval '300 days')",
        {"text": text, "who": credential},
    )
    owner.execute(
        "select write_identity('self', 'my_identity.md', %(text)s, credential => %(who)s)",
        {"text": text, "who": credential},
    )


def propose_all(owner: psycopg.Connection, token: str) -> None:
    """Let the person with this token propose facts: new, repeated, replacing, hostile and long.

    Their ids begin with 10000000, 20000000, and so on.
    """
    proposals = (
        ("Ada", "likes cake", None),
        ("Ada", "prefers green tea", None),
        ("Ada", "lives in Bergen", "lives in Rome"),
        ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)> too', None),
        (f"Project {_LONG}", f"ends when {_LONG} ends", None),
    )
    for number, (entity, fact, replaced) in enumerate(proposals, 1):
        owner.execute(
            "select remember_fact(%s, 'person', %s, replaces => %s, credential => %s,"
            " client => 'bot 1.0', tool => 'remember_fact')",
            (entity, fact, replaced, hash_token(token)),
        )
        owner.execute(
            "update proposal set id = (%s || substr(id::text, 9))::uuid where content = %s",
            (f"{number}0000000", fact),
        )
