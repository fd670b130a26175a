"""`textrawl import` of the memories of other systems."""

import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.archive.material import fetch
from tests.archive.samples import SAMPLES, write_files, write_graphiti, write_json, write_mem0
from tests.conftest import ACTOR
from tests.support.commands import Run
from textrawl.archive.detection import FORMATS

FIRST, SECOND = "Works at Acme as an engineer", "Works at Globex as a manager"
NESTED = b'{"memories": ' + b"[" * 1_000_000
HOSTILE = (
    ("mem0", "cut.json", b'[{"id": "1", "memory": "x'),
    ("mem0", "nested.json", NESTED),
    ("mcp-memory-service", "nested.json", NESTED),
    ("graphiti", "nested.json", NESTED),
    ("letta", "a.af", b"\x00\xff"),
    ("obsidian", "latin.md", "caf\u00e9".encode("latin-1")),
    ("rules", "CLAUDE.md", b"\xff\xfe"),
    ("basic-memory", "empty.zip", b"PK\x03\x04"),
    ("hindsight", "none.json", b"{}"),
)
COUNTS = """
    select (select count(*) from entity where space_id = s.id),
        (select count(*) from fact where space_id = s.id),
        (select count(*) from relation where space_id = s.id),
        (select count(*) from entity_alias where space_id = s.id)
    from space s where s.name = %s
"""
STATE = """
    select e.name, f.content, f.valid_until is null
    from fact f join entity e on e.space_id = f.space_id and e.id = f.entity_id
    join space s on s.id = f.space_id
    where s.name = %s and f.content like '%%Works at%%' order by f.created_at
"""
WHOLE = """
    select n.name, f.content, case s.name when 'default' then a.name end,
        case s.name when 'default' then array[f.valid_from, f.valid_until] end,
        s.name = 'default' and f.created_at = f.valid_from,
        f.closed_at is null, f.replaced_by is null
    from observation f join entity n on n.space_id = f.space_id and n.id = f.entity_id
    join actor a on a.id = f.author_id join space s on s.id = f.space_id
    union all
    select n.name, r.relation_type || m.name, a.name, array[r.valid_from, r.valid_until],
        r.created_at = r.valid_from, null, null
    from relation r join entity n on n.space_id = r.space_id and n.id = r.from_entity
    join entity m on m.space_id = r.space_id and m.id = r.to_entity
    join actor a on a.id = r.author_id
    union all
    select e.name, l.name, null, null, null, null, null
    from entity e join space s on s.id = e.space_id and s.name = 'default'
    left join entity_alias l on (l.space_id, l.entity_id) = (e.space_id, e.id)
        and l.removed_at is null
    union all
    select d.path, v.content, null, null, null, null, null from document d
    join document_version v on v.space_id = d.space_id and v.document_id = d.id
        and v.version = d.version
    order by 1, 2, 4
"""
AUTHORS = """
    select distinct a.name from fact f join actor a on a.id = f.author_id
    join space s on s.id = f.space_id where s.name = %s
"""


@pytest.mark.slow
def test_memories_of_other_systems_come_once_and_change_as_versions(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    for title, (write, expected) in SAMPLES.items():
        space, folder = title.replace(" ", "-"), tmp_path / title
        owner.execute("select create_space(%s)", (space,))
        arguments = ("import", str(write(folder, FIRST)), "--space", space)
        first = run(*arguments, **given)
        rows = owner.execute(COUNTS, (space,)).fetchall()
        again = run(*arguments, **given)
        same = owner.execute(COUNTS, (space,)).fetchall()
        write(folder, SECOND)
        changed = run(*arguments, **given)

        faults = re.findall(r": it has no", first.err)
        documents = re.findall(r"in handbook: ([0-9]+) added", first.out)
        found = (*rows[0], sum(map(int, documents)), len(faults))
        assert (found, same) == (expected, rows), f"{title}: {first}"
        codes = {first.code, again.code, changed.code}
        assert codes == {int(bool(faults))}, f"{title}: {changed}"
        state = owner.execute(STATE, (space,)).fetchall()
        assert [valid for *_, valid in state][-2:] == [False, True], f"{title}: {state}"
        authors = {name for (name,) in owner.execute(AUTHORS, (space,))}
        assert len(authors) == 1, title
        assert not authors & {"ada", "Ada", "Ben", ACTOR}, title


def test_an_undo_takes_back_all_of_the_last_command_or_of_the_one_that_it_named(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    """The command has two formats, and one of them has facts and documents."""
    named, states = list[str](), list[Any]()
    for text in (FIRST, SECOND):
        states.append(owner.execute(WHOLE).fetchall())
        write_graphiti(tmp_path, text)
        write_mem0(tmp_path, text)
        said = run("import", str(tmp_path), "--yes", **given).err
        named += re.findall("undo --import ([0-9a-f]{8})", said)
    last = owner.execute(WHOLE).fetchall()
    run("import", str(tmp_path), "--yes", **given)  # stores nothing, so is no run

    assert len(named) == 2
    assert last not in states
    for given_as in (("last", "last"), named[::-1]):
        for one, state, name in zip(given_as, states[::-1], named[::-1], strict=True):
            undone = run("undo", "--import", one, "--yes", DATABASE_URL=given["DATABASE_URL"])
            assert undone.code == 0, undone.err
            systems = re.findall(f"Undoing the import {name} \\((.*?)\\) of", undone.out)
            assert set(systems) == {"graphiti", "mem0"}
            assert owner.execute(WHOLE).fetchall() == state
        for undo in owner.execute("select id from undo where reverted_at is null").fetchall()[::-1]:
            owner.execute("select revert_undo(%s)", undo)


def test_forgetting_names_the_documents_of_the_name_that_stay(
    run: Run, given: dict[str, Any], tmp_path: Path
) -> None:
    notes = {"Lena Voss.md": "---\ncity: Kiel\n---\nShe sails.\n", "Ben.md": "He rows.\n"}
    run("import", str(write_files(tmp_path, notes)), **given)
    said = "Documents of this name stay: handbook: Lena Voss\n"

    plan = run("forget", "lena voss", "--dry-run", **given)
    fact = run("forget", "Lena Voss", "city: Kiel", "--dry-run", **given)
    done = run("forget", "Lena Voss", "--yes", "--json", **given)

    assert plan.err == said
    assert fact.err == ""
    assert done.err.endswith(f".\n{said}")
    assert json.loads(done.out)["documents"] == ["handbook: Lena Voss"]


@pytest.mark.slow
def test_an_import_that_was_taken_back_can_be_repeated(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    def bring(text: str) -> tuple[list[Any], int]:
        """Import. Return the memory, and the number of commands that stored something."""
        note = f"---\naliases: [Countess]\n---\n{text} of notes\n"
        write_files(tmp_path / "vault", {".obsidian/app.json": "{}", "Ada.md": note})
        runs = 0
        for path in (write_graphiti(tmp_path, text), tmp_path / "vault"):
            said = run("import", str(path), **given).err
            assert "undo took" not in said, said
            runs += len(re.findall("undo --import ([0-9a-f]{8})", said))
        return owner.execute(WHOLE).fetchall(), runs

    def take_back(runs: int) -> None:
        for _ in range(runs):
            undone = run("undo", "--import", "last", "--yes", DATABASE_URL=given["DATABASE_URL"])
            assert undone.code == 0, undone.err

    owner.execute("select remember_fact('Ada', 'person', 'was here before')")
    for text in (FIRST, SECOND):
        before = owner.execute(WHOLE).fetchall()
        once, runs = bring(text)
        for _ in range(2):
            take_back(runs)
            assert owner.execute(WHOLE).fetchall() == before
            assert bring(text) == (once, runs)
    for undo in owner.execute("select id from undo order by id desc").fetchall():
        with pytest.raises(psycopg.DatabaseError, match="a later"):  # what is there again
            owner.execute("select revert_undo(%s)", undo)
        assert owner.execute(WHOLE).fetchall() == once


def test_an_inserted_line_replaces_nothing_and_an_edited_one_its_former_text(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    said, more = list[str](), ["Has a cat", "Likes tea"]
    for lines in (["Likes tea", FIRST], [*more, FIRST], [*more, SECOND]):
        value = "\n".join(f"- {line}" for line in lines)
        blocks = [{"id": "b1", "label": "human", "value": value}]
        write_json(tmp_path / "scout.af", {"agents": [], "blocks": blocks})
        note = f"---\npermalink: x\n---\n{value.replace('- ', '- [human] ')}\n"
        write_files(tmp_path / "notes", {"scout.md": note})
        said += [
            run("import", str(tmp_path / place), **given).err for place in ("scout.af", "notes")
        ]

    assert [": 1 changed" in one for one in said] == [False] * 4 + [True] * 2, said
    assert "no longer" not in str(said)
    ended = owner.execute("select count(*) from fact where valid_until is not null").fetchall()
    assert ended == [(2,)]


def write_secrets(folder: Path, said: str) -> dict[tuple[str, ...], str]:
    """Write files with a secret. Return the commands, and the place that each of them names."""
    reference = {"name": "Ada", "entityType": "person", "observations": [said, "likes tea"]}
    write_json(folder / "memory.json", {"entities": [reference]})
    meta = {"context": said}
    cortex = {"id": "1", "content": said, "created_at": 1, "last_used": 1, "meta": meta}
    write_json(folder / "memories.jsonl", cortex)
    write_mem0(folder, said)
    (folder / "notes.md").write_text(f"# Notes\n\n{said}\n", encoding="utf-8")
    return {
        ("import", "--from", "mem0", "mem0.json"): "text: password",
        ("import", "--from", "server-memory", "memory.json"): "line 1, Ada: password",
        ("import", "--from", "cortexgraph", "memories.jsonl"): "line 1: password",
        ("ingest", "notes.md"): "notes.md: password (line 3)",
    }


def test_secrets_are_masked_by_each_other_way_in(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    said = "My password is Tulpe!42"
    for (*command, file), place in write_secrets(tmp_path, said).items():
        told = run(*command, str(tmp_path / file), **given).err
        assert "Secrets in 1 text were masked" in told, (command, told)
        assert place in told
        assert "Tulpe" not in told
    texts = owner.execute(
        "select content from observation union all select context from retention"
        " union all select content from document_version"
    )
    stored = "\n".join(str(text) for (text,) in texts)
    assert stored.count("My password is [masked password]") == 5
    assert "likes tea" in stored
    assert "Tulpe" not in stored
    (tmp_path / "more.md").write_text(said, encoding="utf-8")
    refused = run("ingest", str(tmp_path / "more.md"), SECRETS="refuse", **given)
    assert refused.code == 1
    assert "more.md was not stored: it has a secret: password (line 1)" in refused.err


def test_a_hostile_file_gets_a_clear_error_and_changes_nothing(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    rows = owner.execute(COUNTS, ("default",)).fetchall()
    for number, (form, name, content) in enumerate(HOSTILE):
        file = tmp_path / str(number) / name
        file.parent.mkdir()
        file.write_bytes(content)
        outcome = run("import", "--from", form, str(file), **given)
        assert outcome.code == 1, (form, outcome)
        assert "Nothing was imported" in outcome.err, (form, outcome)
        assert "Traceback" not in outcome.err
    assert owner.execute(COUNTS, ("default",)).fetchall() == rows


def test_a_file_of_which_nothing_is_imported_is_no_success(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    """Some have the marks of a format. For each format, a file of it is empty."""
    texts = (
        '{"docs": [{"title": "a", "content": "The mooring is 14"}]}',
        '{"memory": "The mooring is 14", "user_id": "ada"}',
        '{"nodes": [], "group_id": "valid_at"}',
        *('{"entities": [], "relations": []}', "{}", "[]", "\n"),
    )
    write_files(tmp_path / "vault", {".obsidian/app.json": "{}", "Empty.md": "\n"})
    assert run("import", str(tmp_path / "vault"), DATABASE_URL=fresh).code == 1
    for number, text in enumerate(texts):
        file = write_files(tmp_path / str(number), {"memory.json": text}) / "memory.json"
        outcome = run("import", str(file), DATABASE_URL=fresh)
        assert outcome.code == 1, (text, outcome)
        assert "has none of the formats" in outcome.err, (text, outcome)
        assert "or nothing in it" in outcome.err
        assert "`textrawl ingest` adds files as texts" in outcome.err
    names = {
        "textrawl": "a.jsonl",
        "cortexgraph": "memories.jsonl",
        "rules": "CLAUDE.md",
        "letta": "a.af",
    }
    for name in FORMATS:
        files = {names.get(name, "conversations.json"): '{"textrawl": "export", "version": 1}\n'}
        if name == "rules":
            files = {"CLAUDE.md": "# Rules\n\n---\n"}
        folder = write_files(tmp_path / name, files)
        outcome = run("import", "--from", name, str(folder / next(iter(files))), DATABASE_URL=fresh)
        assert outcome.code == 1, (name, outcome)
        assert re.search(r"nothing|Nothing|Bad lines", outcome.err + outcome.out), (name, outcome)


def test_the_next_format_is_asked_if_one_finds_nothing(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    """Agent files of Letta have the marks of mem0."""
    for name in ("Scout", "Ranger"):
        agent: dict[str, Any] = {"name": name, "agent_id": name, "memory": {}, "core_memory": [
            {"label": "human", "value": "Lives in Oslo"}]}  # fmt: skip
        write_json(tmp_path / f"{name}.af", agent)

    for path in (tmp_path / "Scout.af", tmp_path):
        done = run("import", str(path), DATABASE_URL=fresh)
        assert (done.code, done.err.startswith("Letta in ")) == (0, True), done

    found = fetch(fresh, "select e.name from fact f join entity e on e.id = f.entity_id order by 1")
    assert found == [("Ranger",), ("Scout",)]


def test_rules_in_a_folder_of_notes_are_the_rule_files_and_all_else_stays_notes(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    """The folder has rule files of seven programs, and files that no format knows."""
    pump = (
        "---\ntitle: Pump\npermalink: notes/pump\n---\n- [fact] moves 40 litres a minute #bilge\n"
        "- part_of [[Engine Room]]\n"
    )
    rules = (
        *("CLAUDE.md", "AGENTS.md", "docs/GEMINI.md", ".windsurfrules", ".cursor/rules/a.mdc"),
        *(".clinerules/b.md", ".amazonq/rules/c.md", ".github/copilot-instructions.md"),
    )
    front = "---\nglobs: *.py\nalwaysApply: true\n---\n"
    files = {name: f"{front}Follow {name}.\n\n---\n" for name in rules}
    others = {"general/2025-03-04.json": '[{"user": "U1"}]', ".git/config": "", "b.base": "x: 1"}
    folder = write_files(tmp_path / "boat", {"notes/Pump.md": pump} | files | others)

    done = run("import", str(folder), "--yes", DATABASE_URL=fresh)

    said = "2 files of other kinds left out: b.base, general/2025-03-04.json"
    assert (done.code, said in done.err) == (0, True), done
    query = "select e.name, content from fact f join entity e on e.id = f.entity_id order by 2"
    assert fetch(fresh, query) == [
        *sorted((("boat", f"Follow {name}.") for name in rules), key=lambda one: one[1]),
        ("Pump", "moves 40 litres a minute #bilge"),
        ("Pump", "tags: bilge"),
    ]
    assert fetch(fresh, "select relation_type from relation") == [("part_of",)]


def test_a_row_of_a_table_is_a_fact_and_a_ruler_is_none(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    table = "| service | port |\n|:--|--:|\n| auth | 7001 |\n| cart \\| shop | | spare |\n"
    text = f"## Ports\n\n---\n\n{table}\nAsk Vera.\n\n***\n"
    folder = write_files(tmp_path, {"AGENTS.md": text})

    assert run("import", str(folder), DATABASE_URL=fresh).code == 0
    assert fetch(fresh, "select content from fact order by 1") == [
        ("Ports: Ask Vera.",),
        ("Ports: service auth, port 7001",),
        ("Ports: service cart | shop, spare",),
    ]


def test_a_folder_with_several_formats_is_imported_whole_and_listed(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    write_mem0(tmp_path / "exports", "Likes tea")
    write_files(tmp_path, {"CLAUDE.md": "# Rules\n- Be quick\n", "photo.txt": "no format"})

    unlisted = run("import", "--list", DATABASE_URL=fresh)
    plan = run("import", str(tmp_path), "--dry-run", DATABASE_URL=fresh)
    done = run("import", str(tmp_path), "--yes", DATABASE_URL=fresh)
    listed = run("import", "--list", DATABASE_URL=fresh)

    for outcome in (plan, done):
        found = [line for line in outcome.err.splitlines() if f" in {tmp_path}: " in line]
        assert [line.split(" in ")[0] for line in found] == ["mem0", "Agent rules"]
    assert dict(
        fetch(fresh, "select content, a.name from fact join actor a on a.id = author_id")
    ).items() >= {("Likes tea", "mem0"), ("Rules: Be quick", "Agent rules")}
    assert "Known already" not in done.out
    assert "a second" not in done.out
    assert unlisted.err == "No imports yet.\n"
    rows = [line.split("\t") for line in listed.out.splitlines()]
    assert {row[2] for row in rows} == {"mem0", "rules"}
    assert all(f"undo --import {row[0]}" in done.err for row in rows)
