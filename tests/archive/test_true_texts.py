"""Lines that look like marks come through the reader of each format as they stood there."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from tests.archive import foreign
from tests.archive.foreign import write_lines
from tests.archive.material import ENTITY, FACT, SPACE, number, write_file
from tests.archive.samples import AT, write_files, write_json, write_zip
from tests.support.commands import Run
from textrawl.archive.detection import FORMATS
from textrawl.archive.notes import NOTE_FORMATS, NotedEntity, write_entity_note

LINES = (
    "The survey is on 3. May at the yard.",
    "The survey is on 4. May at the yard.",  # cut in the middle, both lines would be the same
    "3. Mai ist die Prüfung.",
    "1. Mai ist ein Feiertag.",
    "2) of two",
    "1. 2. 3.",
    "Version 7. Next is 8.",
    "Tension is a * b newton.",
    "Use the flag `--force` - never `-f` - in scripts.",
    "**How to apply:** When the tide turns",
    "--force is a flag",
    "---force is none",
    "-5 °C is cold",
    "+49 30 901820",
    "*emphasis* first",
    "#5 is broken",
    "#hashtag first",
    "> quoted words",
    "| a | b |",
    "a | b",
    "\"quoted\" 'words' „so“ «so»",
    "👩‍💻 first, 🏳️‍🌈 and 👍🏽 last 🎉",
    "naïve 東京大学 שלום العربية Ελλάς",
    "ends with - a mark -",
    "ends with a star *",
    "ends with a number 7.",
    "std::vector is a list",
    "key ::value",
    "@ada owns the yard",
    "<3 tea",
    "<b> is no tag of a client",
    "<!-- a comment --> and its text",
    "/etc/hosts is wrong",
    "```code``` in a line",
    "[x] done",
    "[!NOTE] read this",
    "[2026-05-01] shipped",
    "[[Square]] and [round](square.md)",
    "30 litres (per minute)",
    "a: b: c",
    "C:\\new\\table \\| %s {0} ${HOME}",
    "key=value & <tag>",
)
TEXT = "\n\n".join(LINES)
Facts = Callable[[str], str]
"""A function that returns the fact in which a line is stored."""


def _as_it_is(line: str) -> str:
    return line


def _write_chatgpt(folder: Path) -> Path:
    foreign.write_chatgpt(folder / "conversations.json", {"a": TEXT})
    return folder / "conversations.json"


def _write_claude(folder: Path) -> Path:
    said = [
        {"uuid": f"m{place}", "sender": "human", "text": line, "created_at": AT}
        for place, line in enumerate(LINES)
    ]
    return write_json(folder / "conversations.json", [{"uuid": "c", "chat_messages": said}])


def _write_claude_code(folder: Path) -> Path:
    lines = [
        {"type": "user", "uuid": f"u{place}", "parentUuid": f"u{place - 1}", "sessionId": "s",
         "timestamp": AT, "message": {"role": "user", "content": line}}
        for place, line in enumerate(LINES)
    ]  # fmt: skip
    return write_lines(folder / "s.jsonl", *lines)


def _write_codex(folder: Path) -> Path:
    head = {"type": "session_meta", "timestamp": AT, "payload": {"id": "c"}}
    lines = [
        {"type": "response_item", "timestamp": AT, "payload": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": line}]}}
        for line in LINES
    ]  # fmt: skip
    return write_lines(folder / "rollout-c.jsonl", head, *lines)


def _write_gemini(folder: Path) -> Path:
    lines = [
        {"id": str(place), "timestamp": AT, "type": "user", "content": line}
        for place, line in enumerate(LINES)
    ]
    head = {"sessionId": "g", "projectHash": "f"}
    return write_lines(folder / "chats" / "session-g.jsonl", head, *lines)


def _write_copilot(folder: Path) -> Path:
    lines = [
        {"type": "user.message", "id": f"e{place}", "timestamp": AT, "data": {"content": line}}
        for place, line in enumerate(LINES)
    ]
    head = {"type": "session.start", "data": {"sessionId": "p"}}
    return write_lines(folder / "p" / "events.jsonl", head, *lines)


def _write_opencode(folder: Path) -> Path:
    foreign.write_opencode(folder)
    with closing(sqlite3.connect(folder / "opencode.db")) as database:
        for place, line in enumerate(LINES):
            key, data = f"z{place:03}", json.dumps({"type": "text", "text": line})
            about = json.dumps({"role": "user"})
            database.execute("insert into message values (?, 'o3', 1, ?)", (key, about))
            database.execute("insert into part values (?, ?, 'o3', ?)", (key, key, data))
        database.commit()
    return folder / "opencode.db"


def _write_mem0(folder: Path) -> Path:
    rows = [
        {"id": str(place), "memory": line, "user_id": "ada"} for place, line in enumerate(LINES)
    ]
    return write_json(folder / "mem0.json", rows)


def _write_plugin(folder: Path) -> Path:
    blocks = [
        f"---\nid: {place}\ncreated_at: {AT}\n---\n{line}\n---\nb: c\n"
        for place, line in enumerate(LINES)
    ]
    return write_files(folder, {"mem0-export.md": "\n".join(blocks)}) / "mem0-export.md"


def _write_hindsight(folder: Path) -> Path:
    document: dict[str, Any] = {"id": "d", "original_text": TEXT, "facts": [
        {"text": line, "fact_type": "world"} for line in LINES
    ]}  # fmt: skip
    files = {"manifest.json": {"source_bank_id": "b"}, "documents/1.json": document}
    return write_zip(
        folder / "b.zip", {name: json.dumps(one).encode() for name, one in files.items()}
    )


def _write_memory_service(folder: Path) -> Path:
    rows = [{"content": line, "content_hash": f"h{place}"} for place, line in enumerate(LINES)]
    return write_json(folder / "m.json", {"export_metadata": {}, "memories": rows})


def _write_graphiti(folder: Path) -> Path:
    node = {"uuid": "n", "name": "Ada"}
    edges = [
        {"uuid": f"e{place}", "group_id": "g", "fact": line, "source_node_uuid": "n",
         "target_node_uuid": "n"}
        for place, line in enumerate(LINES)
    ]  # fmt: skip
    episodes = [{"uuid": "p", "name": "talk", "content": TEXT, "valid_at": AT}]
    value = {"nodes": [node], "edges": edges, "episodes": episodes}
    return write_json(folder / "graph.json", value)


def _write_letta(folder: Path) -> Path:
    blocks = [{"id": "b", "label": "human", "value": "\n".join(LINES)}]
    said = [{"role": "user", "content": line, "created_at": AT} for line in LINES]
    agent = {"id": "a", "name": "Scout", "block_ids": ["b"], "messages": said}
    return write_json(folder / "scout.af", {"agents": [agent], "blocks": blocks})


def _write_rules(folder: Path) -> Path:
    items = "\n".join(f"- {line.replace('a', 'å')}" for line in LINES)
    return write_files(folder, {"CLAUDE.md": f"# Rules\n\n{TEXT}\n\n{items}\n"})


def _write_basic_memory(folder: Path) -> Path:
    items = "\n".join(f"- [fact] {line}" for line in LINES)
    note = f"---\ntitle: Coffee\npermalink: coffee\n---\n{items}\n"
    return write_files(folder, {"coffee.md": note})


def _write_vault(folder: Path) -> Path:
    fields = yaml.safe_dump({f"p{place}": line for place, line in enumerate(LINES)})
    files = {".obsidian/app.json": "{}", "Ada.md": f"---\n{fields}---\n{TEXT}\n"}
    # A note whose other lines are data, so that only this line makes it a document.
    files |= {f"n{place}.md": f"mood:: calm\n{line}\n" for place, line in enumerate(LINES)}
    return write_files(folder, files)


def _write_own_notes(folder: Path) -> Path:
    for place, form in enumerate(NOTE_FORMATS):
        entity: dict[str, Any] = dict(ENTITY, name=form, id=number(1, place), type_guessed=False)
        entity |= {"metadata": {}, "description": None}
        note = write_entity_note(NotedEntity(entity["id"], entity, None, None, None), form, {})
        write_files(folder, {f"{form}.md": f"{note}\n{TEXT}\n"})
    return folder


def _write_server_memory(folder: Path) -> Path:
    line = {"type": "entity", "name": "Ada", "entityType": "person", "observations": LINES}
    return write_json(folder / "memory.json", line)


def _write_cortexgraph(folder: Path) -> Path:
    lines = [
        {"id": f"m{place}", "content": line, "use_count": 0, "created_at": 1, "last_used": 1}
        for place, line in enumerate(LINES)
    ]
    return write_lines(folder / "memories.jsonl", *lines).parent


def _write_textrawl(folder: Path) -> Path:
    own = {"space": "textrawl"}
    facts = [
        FACT | own | {"id": number(2, place), "text": line} for place, line in enumerate(LINES)
    ]
    return Path(write_file(folder, SPACE | {"name": "textrawl"}, ENTITY | own, *facts))


FILES: dict[str, tuple[Callable[[Path], Path], tuple[Facts, ...], bool]] = {
    # format: a writer, the facts of each line, and whether the lines are in documents too
    "textrawl": (_write_textrawl, (_as_it_is,), False),
    "server-memory": (_write_server_memory, (_as_it_is,), False),
    "cortexgraph": (_write_cortexgraph, (_as_it_is,), False),
    "chatgpt": (_write_chatgpt, (), True),
    "claude": (_write_claude, (), True),
    "claude-code": (_write_claude_code, (), True),
    "codex": (_write_codex, (), True),
    "gemini-cli": (_write_gemini, (), True),
    "copilot-cli": (_write_copilot, (), True),
    "opencode": (_write_opencode, (), True),
    "mem0": (_write_mem0, (_as_it_is,), False),
    "mem0 plugin": (_write_plugin, ("{}\n---\nb: c".format,), False),
    "hindsight": (_write_hindsight, (_as_it_is,), True),
    "mcp-memory-service": (_write_memory_service, (_as_it_is,), False),
    "graphiti": (_write_graphiti, (_as_it_is,), True),
    "letta": (_write_letta, ("human: {}".format,), True),
    "rules": (
        _write_rules,
        ("Rules: {}".format, lambda line: f"Rules: {line.replace('a', 'å')}"),
        False,
    ),
    "basic-memory": (_write_basic_memory, (_as_it_is,), False),
    "obsidian": (_write_vault, (lambda line: f"p{LINES.index(line)}: {line}",), True),
    "obsidian notes": (_write_own_notes, (_as_it_is,), False),
}


STORED = """
    select null, content from observation where space_id = (select id from space where name = %s)
    union all
    select line, null from document d
    join document_version v on v.space_id = d.space_id and v.document_id = d.id
    cross join string_to_table(v.content, E'\\n') line where d.path like %s
"""


def _find_changed(owner: psycopg.Connection, title: str) -> Iterator[str]:
    """Yield each line that is not stored as it stood there."""
    _, facts, documents = FILES[title]
    rows = owner.execute(STORED, (title.replace(" ", "-"), f"import/{title}/%")).fetchall()
    lines, texts = {line for line, _ in rows}, {text for _, text in rows}
    for line in LINES:
        if missing := [one for fact in facts if (one := fact(line)) not in texts]:
            yield f"{title}, fact: {missing[0]!r}"
        if documents and line not in lines:
            yield f"{title}, document: {line!r}"


@pytest.mark.slow
def test_what_the_reader_of_each_format_stores_is_what_stood_there(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    assert {title.split()[0] for title in FILES} == FORMATS.keys()
    changed = list[str]()
    for title, (write, _, _) in FILES.items():
        space, folder = title.replace(" ", "-"), tmp_path / title
        folder.mkdir()
        owner.execute("select create_space(%s)", (space,))
        arguments = ("--from", title.split()[0], "--space", space, "--yes")
        outcome = run("import", str(write(folder)), *arguments, **given)

        assert outcome.code == 0, f"{title}: {outcome}"
        changed += _find_changed(owner, title)

    assert changed == []
