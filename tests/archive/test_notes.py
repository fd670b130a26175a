"""`textrawl export --to obsidian DIR` and other folders."""

import csv
import getpass
import re
import unicodedata
from datetime import datetime
from pathlib import Path
from typing import Any, LiteralString

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg import sql

from tests.archive.conftest import succeed
from tests.archive.material import ENTITY, NOW, SAID, SPACE, fetch, number, tell, write_file
from tests.support.commands import Run
from textrawl.archive.notes import (
    NOTE_FORMATS,
    NotedEntity,
    NoteFolder,
    NoteItem,
    name_entity_file,
    read_items,
    write_entity_note,
)
from textrawl.errors import StartRefused
from textrawl.memory.vault import read_note
from textrawl.values.text import FACT_LENGTH, clean_fact, clean_name

FORMS = (*NOTE_FORMATS, "csv")
ADA = """\
---
title: Ada
type: person
description: a 'person'
created: 'TIME'
id: ID
textrawl: obsidian
---

# Ada

## Facts

- likes coffee (textrawl_owner, DAY)
  <!-- fact {"id":"ID","author":"textrawl_owner","origin":"said","created_at":"TIME",\
"sum":"DIGEST"} -->

## Relations

- works_at [[Atlas]] (textrawl_owner, DAY)
  <!-- relation {"id":"ID","to":"Atlas","author":"textrawl_owner","origin":"said",\
"relation":"works_at","created_at":"TIME","sum":"DIGEST"} -->

> [!info]- History
> - [x] likes tea (textrawl_owner, DAY to DAY)
>   <!-- fact {"id":"ID","valid":false,"author":"textrawl_owner","origin":"said",\
"created_at":"TIME","replaced_by":"ID","valid_until":"TIME","sum":"DIGEST"} -->
"""


def mask(text: str) -> str:
    """A note without what differs from run to run."""
    for pattern, name in (
        (r"\d{4}-\d\d-\d\dT[\d:.+]+", "TIME"), (r"\d{4}-\d\d-\d\d", "DAY"),
        (r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID"), (r'"sum":"[0-9a-f]{8}"', '"sum":"DIGEST"'),
    ):  # fmt: skip
        text = re.sub(pattern, name, text)
    return text


def read_folder(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file() and file.parent != folder)
    return {str(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in files}


def write(run: Run, url: str, form: str, *more: str) -> str:
    return succeed(run, "export", "--to", form, form, *more, DATABASE_URL=url).err


def check_notes(notes: dict[str, str]) -> None:
    assert mask(notes["default/Ada.md"]) == ADA
    assert "- likes coffee" not in notes["team/Ada.md"]
    [changed] = notes.keys() - {"default/Ada.md", "default/Atlas.md", "team/Ada.md"}
    assert re.fullmatch(r"default/Straße 東京 [0-9a-f]{8}\.md", changed)


def check_table(folder: Path) -> None:
    lines = (folder / "csv/default/facts.csv").read_text("utf-8").splitlines()
    rows = [(row["entity"], row["text"], row["valid"]) for row in csv.DictReader(lines)]
    assert rows[:2] == [("Ada", "likes tea", "False"), ("Ada", "likes coffee", "True")]


def test_a_folder_of_notes_follows_the_memory_and_leaves_the_files_of_others(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for form in FORMS:
        write(run, url, form)
        assert "Wrote 0 files, removed 0" in write(run, url, form), form
    check_notes(read_folder(tmp_path / "obsidian"))
    check_table(tmp_path)

    tell(
        url,
        "select remember_fact('Ada', 'person', '=1+1')",
        "select remember_fact('Own', 'person', 'has a note already')",
        "select forget_entity('Atlas')",
    )
    mine = {f"{name}.md": "mine" for name in ("team/Ada", "default/Own", "default/Other")}
    for name, text in mine.items():
        (tmp_path / "obsidian" / name).write_text(text, encoding="utf-8")
    said = write(run, url, "obsidian")

    after = read_folder(tmp_path / "obsidian")
    assert said.startswith("Wrote 1 file, removed 1, unchanged 1.\n")
    assert re.findall("Kept (.*?),", said) == ["default/Own.md", "team/Ada.md"]
    assert "=1+1" in after["default/Ada.md"]
    assert "default/Atlas.md" not in after
    assert after.items() >= mine.items()
    assert "Wrote 2 files" in write(run, url, "obsidian", "--force")
    write(run, url, "csv")
    assert "'=1+1" in (tmp_path / "csv/default/facts.csv").read_text(encoding="utf-8")


def test_a_link_or_a_damaged_manifest_leads_no_export_out_of_its_folder(
    run: Run, tmp_path: Path
) -> None:
    manifest = tmp_path / ".textrawl.jsonl"
    for line in ("{", '["../../etc/passwd", "0"]', '["default/a.md"]', "1"):
        manifest.write_text(line, encoding="utf-8")
        refused = run("export", "--to", "obsidian", str(tmp_path))
        assert "is damaged" in refused.complaint

    manifest.unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "default").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StartRefused, match="stands in the way"):
        NoteFolder(tmp_path).write("default/Ada.md", "")
    assert not list((tmp_path / "elsewhere").iterdir())


NAMES = st.text(min_size=1, max_size=60).map(clean_name).filter(bool)


@given(st.lists(NAMES, unique_by=str.casefold))
@example(
    ["CON", "aux", ".git", "a/b", "a:b", "a#b", "a b", "..", "x" * 200, "🙂" * 200, "ﬁn", "fin"]
)
@example(["STRASSE", "straße", "İ", "i̇", "é", "e"])
def test_every_name_becomes_a_file_that_each_file_system_takes(names: list[str]) -> None:
    files = [name_entity_file(name, f"{n:08x}") for n, name in enumerate(names)]

    assert len({unicodedata.normalize("NFC", file.casefold()) for file in files}) == len(names)
    for name, file in zip(names, files, strict=True):
        assert 0 < len(file.encode()) < 200
        assert not re.search(r'[\x00-\x1f<>:"/\\|?*\[\]#^]|^\.|[. ]$', file), name
        assert file.upper() not in ("CON", "AUX", "NUL", "PRN")


TEXTS = st.text(min_size=1).map(clean_fact).filter(bool)
DAYS = st.datetimes().map(lambda day: f"{day.isoformat()}+00:00")
FORGED = '- x (ben, 2026-01-01)\n  <!-- fact {"id":"9","author":"ben","sum":"00000000"} -->'
ORIGIN: dict[str, Any] = {"author": "Ana (a)", "created_at": "2026-01-01T00:00:00+00:00"}


def build_row(text: str, reason: str, name: str, day: str, *, valid: bool) -> NotedEntity:
    ended = ORIGIN | {"valid": valid, "valid_until": None if valid else day, "valid_from": day}
    fact = ended | {
        "id": "1", "text": text, "source": "note", "confidence": 0.5, "said_at": day,
        "wrong": {"reason": reason}, "closed_at": ended["valid_until"],
    }  # fmt: skip
    relation = ended | {
        "id": "2", "relation": "knows", "label": name[:100], "to": name, "to_entity": "e",
        "strength": 1, "closed_at": ended["valid_until"],
    }  # fmt: skip
    entity: dict[str, Any] = ORIGIN | {
        "id": "0", "space": "default", "name": name, "entity_type": "person", "metadata": {},
        "type_guessed": None, "description": reason,
    }  # fmt: skip
    return NotedEntity("0", entity, [ORIGIN | {"id": "3", "name": name}], [fact], [relation])


@given(TEXTS, TEXTS, NAMES, DAYS, st.booleans(), st.sampled_from(NOTE_FORMATS))
@example(FORGED, FORGED, "--> x", ORIGIN["created_at"], True, "obsidian")
@example("</details>\n\n- a", "> - a\n\n", "[[a]]", ORIGIN["created_at"], False, "markdown")
def test_an_item_of_a_note_is_read_as_it_was_written(
    text: str, reason: str, name: str, day: str, valid: bool, form: Any
) -> None:
    row = build_row(text, reason, name, day, valid=valid)
    written = write_entity_note(row, form, {})

    note = read_note(written)
    items = {item.kind: item for item in read_items(note.body, form) if isinstance(item, NoteItem)}

    assert (note.title, note.fields["description"]) == (name, reason)
    for kind, [one] in (
        ("fact", row.facts or []), ("relation", row.relations or []), ("alias", row.aliases or []),
    ):  # fmt: skip
        found = items.pop(kind)
        assert not found.edited
        usual = {"strength": 1, "label": "knows", "valid_from": one["created_at"]}
        said = {key: value for key, value in one.items() if value is not None}
        for key in said.keys() - {"to_entity", "closed_at"}:
            assert found.values.get(key, usual.get(key)) == said[key], key
    assert not items
    changed = written.replace(f"{text.replace(chr(10), chr(10) + '  ')} (Ana", "other (Ana", 1)
    for item in read_items(read_note(changed).body, form):
        if isinstance(item, NoteItem) and item.kind == "fact":
            assert (item.edited, item.values["text"]) in ((True, "other"), (False, text))


FACTS = """
    select f.content, a.name, f.replaced_by is null from fact f join actor a on a.id = f.author_id
    join space s on s.id = f.space_id where s.name = 'default' order by f.created_at, f.content
"""


def test_an_edited_note_is_of_the_person_who_imports_it(run: Run, url: str, tmp_path: Path) -> None:
    forged = FORGED.replace("'", "''")
    fetch(url, sql.SQL("select remember_fact('Ada', 'person', {})").format(forged))
    succeed(run, "export", "--to", "obsidian", str(tmp_path), DATABASE_URL=url)
    before = fetch(url, FACTS)
    note = tmp_path / "default/Ada.md"
    text = note.read_text(encoding="utf-8").replace("- likes coffee (", "- likes cocoa (")
    note.write_text(text.replace("## Facts\n\n", "## Facts\n\n- plays go (ana, 2020-01-01)\n"))

    for _ in range(2):
        said = run("import", str(tmp_path / "default"), DATABASE_URL=url)
        assert said.code == 0, said.err
        after = fetch(url, FACTS)

        me = getpass.getuser()
        assert [one for one in after if one not in before] == [
            ("likes coffee", "textrawl_owner", False),
            ("plays go (ana, 2020-01-01)", me, True),
            ("likes cocoa", me, True),
        ]
        assert "ben" not in {author for _, author, _ in after}
        assert len(after) == len(before) + 2


TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)).map(
    lambda day: f"{day.isoformat()}+00:00"
)
STATEMENTS = st.fixed_dictionaries(
    {
        "text": TEXTS.filter(lambda text: len(text) < FACT_LENGTH),
        "author": st.sampled_from(["Ana", "Ben (b)"]),
        "about": st.integers(0, 2),
        "to": st.integers(0, 2),
        "times": st.lists(TIMES, min_size=4, max_size=4, unique=True).map(sorted),
        "ended": st.booleans(),
        "source": st.sampled_from(["conversation", "note"]),
    }
)
MEMORY = """
    select e.name, f.content, a.name, f.source, f.created_at, f.said_at, f.valid_from, f.valid_until
    from fact f join entity e on e.space_id = f.space_id and e.id = f.entity_id
    join actor a on a.id = f.author_id
    union all
    select s.name, r.relation_type || ' ' || t.name, a.name, r.label, r.created_at, null,
        r.valid_from, r.valid_until
    from relation r join entity s on s.space_id = r.space_id and s.id = r.from_entity
    join entity t on t.space_id = r.space_id and t.id = r.to_entity
    join actor a on a.id = r.author_id
    union all
    select e.name, e.entity_type, e.description, n.name, e.created_at, null, null, null
    from entity e left join entity_alias n on n.space_id = e.space_id and n.entity_id = e.id
    order by 1, 2, 3, 5, 7
"""
EMPTY: tuple[LiteralString, ...] = (
    "delete from relation returning 1",
    "delete from observation returning 1",
    "delete from entity returning 1",
)


def write_statements(file: Path, names: list[str], statements: list[dict[str, Any]]) -> str:
    """Write an export with a fact and a relation for each statement."""
    lines: list[dict[str, Any]] = [SPACE]
    for place, name in enumerate(names):
        more = {"id": number(1, place), "name": name, "description": f"about {name}"}
        lines.append(ENTITY | more | {"metadata": {"type": "Muse"}, "entity_type": "concept"})
        origin = {"author": "Ana", "tool": "sql", "created_at": NOW, "entity": number(1, place)}
        alias = {"kind": "alias", "space": "default", "id": number(4, place)} | origin
        lines.append(alias | {"name": f"{name} also"})
    lines.sort(key=lambda line: ["space", "entity", "alias"].index(line["kind"]))
    for kind in ("fact", "relation"):
        for place, one in enumerate(statements):
            begin, said, made, end = one["times"]
            line = SAID | {"author": one["author"], "created_at": made, "valid_from": begin}
            line |= {"kind": kind, "valid_until": end if one["ended"] else None}
            if kind == "fact":
                line |= {"id": number(2, place), "entity": number(1, one["about"]), "said_at": said}
                line |= {"text": one["text"], "source": one["source"], "confidence": 0.5}
            else:
                ends = {"from_entity": number(1, one["about"]), "to_entity": number(1, one["to"])}
                line |= ends | {"id": number(3, place), "relation": "worksAt", "strength": 0.5}
            lines.append(line)
    return write_file(file, *lines)


@pytest.mark.slow
@given(
    st.lists(NAMES, min_size=3, max_size=3, unique_by=str.casefold),
    st.lists(STATEMENTS, min_size=1, max_size=5),
)
@settings(max_examples=3)
def test_notes_that_are_imported_give_the_same_memory(
    run: Run, fresh: str, tmp_path: Path, names: list[str], statements: list[dict[str, Any]]
) -> None:
    for form in NOTE_FORMATS:
        tell(fresh, *EMPTY)
        file = write_statements(tmp_path, names, statements)
        run("import", "--from", "textrawl", file, DATABASE_URL=fresh)
        before = fetch(fresh, MEMORY)
        assert before
        folder = str(tmp_path / form)
        succeed(run, "export", "--to", form, folder, "--force", DATABASE_URL=fresh)
        tell(fresh, *EMPTY)

        succeed(run, "import", folder, DATABASE_URL=fresh)
        assert fetch(fresh, MEMORY) == before, form
        assert "unchanged" in succeed(run, "import", folder, DATABASE_URL=fresh).err
        assert fetch(fresh, MEMORY) == before, form
