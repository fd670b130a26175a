"""Folders of notes and rules: names, types, and all that an import leaves out."""

import json
from pathlib import Path

from tests.archive.material import fetch
from tests.archive.samples import write_files
from tests.support.commands import Outcome, Run

FACTS = """
    select e.name, f.content from fact f
    join entity e on (e.space_id, e.id) = (f.space_id, f.entity_id)
    join space s on s.id = f.space_id where s.name = 'default' order by 1, 2
"""
RELATIONS = """
    select a.name, r.relation_type, b.name from relation r
    join entity a on (a.space_id, a.id) = (r.space_id, r.from_entity)
    join entity b on (b.space_id, b.id) = (r.space_id, r.to_entity) order by 1, 2, 3
"""
ENTITIES = """
    select e.name, entity_type from entity e
    join space s on s.id = e.space_id where s.name = 'default' order by 1
"""


def bring(run: Run, database: str, folder: Path, files: dict[str, str]) -> Outcome:
    run("space", "create", "documents", "--tier", "personal", DATABASE_URL=database)
    return run("import", str(write_files(folder, files)), "--yes", DATABASE_URL=database)


def test_another_name_of_a_note_leads_to_it_and_no_value_of_a_property_is_lost(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    boat = (
        "---\naliases: [The Grey Lady]\nlength: 9 m\nsold: null\nowner: ~\nberth:\n"
        "  harbour: Kiel\n  number: 14\ncrew:\n  - name: Ann\n    duty: cook\n  - name: Bo\n---\n"
    )
    page = (
        "alias:: Old Tom, [[Thomas]]\ntype:: [[Person]], [[Cook]]\n\n- sails\n  collapsed:: true\n"
    )
    files = {
        "A trip.md": "[[The Grey Lady]]",
        "Boat.md": boat,
        "Log.md": "- met [[old tom]]\n- ## [[Boat]] #12 and [Tom](Tom%20Hill.md)\n",
        "Tom Hill.md": page,
    }

    done = bring(run, fresh, tmp_path, files)

    assert done.code == 0, done
    names = [(name, "concept") for name in ("A trip", "Boat", "Log")]
    assert fetch(fresh, ENTITIES) == [*names, ("Tom Hill", "person")]
    assert fetch(fresh, FACTS) == [
        ("Boat", "berth.harbour: Kiel"),
        ("Boat", "berth.number: 14"),
        ("Boat", "crew.duty: cook"),
        ("Boat", "crew.name: Ann, Bo"),
        ("Boat", "length: 9 m"),
    ]
    assert fetch(fresh, RELATIONS) == [
        ("A trip", "links_to", "Boat"),
        ("Log", "links_to", "Boat"),
        ("Log", "links_to", "Tom Hill"),
        ("Log", "met", "Tom Hill"),
    ]
    names = [("Old Tom",), ("The Grey Lady",), ("Thomas",)]
    assert fetch(fresh, "select name from entity_alias order by 1") == names


def test_an_anchor_in_a_property_multiplies_no_values(run: Run, fresh: str, tmp_path: Path) -> None:
    wide = "".join(f"x{n + 1}: &x{n + 1} [{', '.join([f'*x{n}'] * 9)}]\n" for n in range(9))

    assert bring(run, fresh, tmp_path, {"Wide.md": f"---\nx0: &x0 [one]\n{wide}---\n"}).code == 0
    assert ("Wide", "x1: " + ", ".join(["one"] * 9)) in fetch(fresh, FACTS)


def test_notes_of_one_name_are_told_apart_by_their_folders(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    files = {
        "Kiel/Notes.md": "---\nfee: 70 euro\n---\nKiel is windy.",
        "Oslo/Notes.md": "---\nfee: 90 euro\n---\nOslo is calm.",
        "Plan.md": "[[Kiel/Notes]], [[Projects/Beta/Index]] and [there](Oslo/Notes.md)",
        "Projects/Alpha/Index.md": "see [[Plan]]",
        "Projects/Alpha/Plan.md": "- in [[Index]]",
        "Projects/Beta/Index.md": "open",
    }

    done = bring(run, fresh, tmp_path, files)

    said = "Named with their folders, because notes share a name (5): Kiel/Notes.md, Oslo/Notes.md"
    assert (done.code, said in done.err) == (0, True), done
    assert fetch(fresh, FACTS) == [("Kiel/Notes", "fee: 70 euro"), ("Oslo/Notes", "fee: 90 euro")]
    assert fetch(fresh, RELATIONS) == [
        ("Alpha/Index", "links_to", "Alpha/Plan"),
        ("Alpha/Plan", "in", "Alpha/Index"),
        ("Plan", "links_to", "Beta/Index"),
        ("Plan", "links_to", "Kiel/Notes"),
        ("Plan", "links_to", "Oslo/Notes"),
    ]
    query = "select name from entity where name like '%Notes' order by space_id, name"
    assert fetch(fresh, query) == [("Kiel/Notes",), ("Oslo/Notes",)] * 2


def test_rules_belong_to_the_project_that_the_title_of_their_file_names(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    """A title without a name says nothing, and what points to a file is no rule."""
    titles = {
        "CLAUDE.md": "",
        "Repository Guidelines": "",
        "You always follow each of these": "",
        "CLAUDE.md - Sea Memory Repository": "Sea Memory",
        "Gull Project Guidelines": "Gull",
        "Claude Code instructions for Blue Whale": "Blue Whale",
    }
    files = {
        f"p{place}/CLAUDE.md": f"# {title}\n\n- rule {place}\n"
        for place, title in enumerate(titles)
    }
    pointers = "See @docs/architecture.md for more\n\n- @AGENTS.md\n\n```sh\nmake\n```\n"
    files |= {
        "imp/CLAUDE.md": f"# Heron\n\n{pointers}\n- Use @angular/core\n\n## Build\n\n- Ask @ada\n",
        "imp/.cursor/rules/a.mdc": "- Be strict\n",
        "imp/docs/architecture.md": "# Architecture\n",
    }

    done = bring(run, fresh, tmp_path / "birds", files)

    assert done.code == 0, done
    for said in ("Lines that only point to another file", "Blocks of code"):
        assert f"{said} are left out of these rules (1): imp/CLAUDE.md" in done.err
    expected = [(title or "birds", f"rule {place}") for place, title in enumerate(titles.values())]
    expected += [("Heron", text) for text in ("Be strict", "Build: Ask @ada", "Use @angular/core")]
    found = [(name, text.removeprefix("CLAUDE.md: ")) for name, text in fetch(fresh, FACTS)]
    short = [(name, text.rpartition(": ")[2] if "rule " in text else text) for name, text in found]
    assert sorted(short) == sorted(expected)


def test_the_tags_of_a_note_give_its_type_and_what_is_left_out_is_named(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    files = {
        "Lucía Prieto.md": "---\ntags: [person, friend]\n---\nLucía lives in Madrid.",
        "Heron.md": "#areas/projects\n\nHeron is an app.",
        "Tea.md": "A #person drinks it.",
        "Empty.md": "  \n",
        "board.canvas": "{}",
        **{f"pictures/{number}.png": "x" for number in range(5)},
    }

    done = bring(run, fresh, tmp_path, files)

    assert done.code == 0, done
    assert "Empty, so left out (1): Empty.md\n" in done.err
    assert "6 files of other kinds left out: board.canvas, pictures/0.png" in done.err
    assert ", … (5 .png, 1 .canvas)\n" in done.err
    types = [("Heron", "project"), ("Lucía Prieto", "person"), ("Tea", "concept")]
    assert fetch(fresh, ENTITIES) == types


def test_a_property_that_is_not_used_and_a_link_of_a_note_to_itself_are_named(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    files = {
        "Tea.md": "---\nmodified: 2026-05-02\ncreated: last spring\n---\nTea is [[Tea]].",
        "Oslo.md": "---\ncreated: 2026-05-01\npublish: false\nmodified: x\n---\nCalm.",
        "Never.md": "---\ncreated: 0001-01-01T00:00:00Z\n---\nQuiet.",
    }

    done = bring(run, fresh, tmp_path, files)

    assert done.code == 0, done
    for said in (
        "The property modified is left out (2): Oslo.md, Tea.md",
        "The property publish is left out (1): Oslo.md",
        "The day of its creation cannot be read, so left out (2): Never.md, Tea.md",
        "Links of a note to itself are left out (1): Tea.md",
    ):
        assert f"{said}\n" in done.err


def test_what_chatgpt_remembered_and_a_conversation_alone_are_read(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    def say(key: str, parent: str | None, role: str, text: str, to: str = "all") -> object:
        content = {"content_type": "text", "parts": [text]}
        message = {"author": {"role": role}, "content": content, "recipient": to}
        return {"parent": parent, "children": [], "message": message | {"create_time": 1.7e9}}

    mapping = {
        "q": say("q", None, "user", "I have welded since 2005"),
        "b": say("b", "q", "assistant", "User has welded since 2005.", "bio"),
        "t": say("t", "b", "tool", "Model set context updated."),
        "a": say("a", "t", "assistant", "Noted!"),
        "other": say("other", "q", "assistant", "User lives in Kiel.", "bio"),
    }
    chat = {"conversation_id": "c", "title": "Welding", "current_node": "a", "mapping": mapping}

    done = bring(run, fresh, tmp_path, {"chat.json": json.dumps(chat)})

    assert done.code == 0, done
    assert fetch(fresh, FACTS) == [
        ("User", "User has welded since 2005."),
        ("User", "User lives in Kiel."),
    ]
    assert fetch(fresh, "select distinct said_at::date::text from fact") == [("2023-11-14",)]
    [(text,)] = fetch(fresh, "select content from document_version")
    assert "User (2023-11-14 22:13):\nI have welded since 2005" in text


def test_relations_of_the_reference_server_keep_the_time_of_their_creation(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    at = {"createdAt": "2023-05-06T10:00:00Z", "version": 1}
    boat = {"type": "entity", "name": "Dinghy", "entityType": "boat", "observations": ["was blue"]}
    lies = {"type": "relation", "from": "Dinghy", "to": "Kiel", "relationType": "lies_in"}
    lines = "".join(f"{json.dumps(one | at)}\n" for one in (boat, lies))

    assert bring(run, fresh, tmp_path, {"memory.jsonl": lines}).code == 0
    day = "select valid_from::date::text from "
    assert fetch(fresh, f"{day} fact union all {day} relation") == [("2023-05-06",)] * 2
