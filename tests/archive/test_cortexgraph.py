"""`textrawl import --from cortexgraph`: the files of CortexGraph become memories that fade."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.archive.material import fetch
from tests.support.commands import Run

FIRST = "0b8f8a5e-3c0e-4f3f-9a53-1f8f5f0a0001"
SECOND = "0b8f8a5e-3c0e-4f3f-9a53-1f8f5f0a0002"
BORN, USED = 1_760_000_000, 1_760_500_000


def memory(own: str = FIRST, content: str = "Ada prefers tea", **more: Any) -> dict[str, Any]:
    """A memory with all fields, as the original writes it."""
    meta = {"tags": ["drinks", "Q4.Plan"], "source": "chat", "context": "lunch", "extra": {"a": 1}}
    counters = {"use_count": 3, "strength": 1.3, "review_count": 2, "cross_domain_count": 1}
    times = {"created_at": BORN, "last_used": USED, "last_review_at": USED}
    none = {"promoted_at": None, "promoted_to": None, "embed": None, "review_priority": 0.0}
    return {
        "id": own, "content": content, "meta": meta, "entities": ["Ada", "tea"],
        "status": "active", **times, **counters, **none, **more,
    }  # fmt: skip


def relation(source: str = FIRST, target: str = SECOND, **more: Any) -> dict[str, Any]:
    return {
        "id": "9d1f8a5e-3c0e-4f3f-9a53-1f8f5f0a0009", "from_memory_id": source,
        "to_memory_id": target, "relation_type": "supports", "strength": 0.5,
        "created_at": BORN, "metadata": {"why": "x"}, **more,
    }  # fmt: skip


def write(folder: Path, memories: list[Any], relations: list[Any] | None = None) -> Path:
    for name, lines in (("memories", memories), ("relations", relations)):
        if lines is not None:
            text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
            (folder / f"{name}.jsonl").write_text("\n".join(text) + "\n", encoding="utf-8")
    return folder


def load(run: Run, url: str, folder: Path, *more: str) -> Any:
    return run("import", "--from", "cortexgraph", str(folder), *more, DATABASE_URL=url)


def test_a_memory_comes_with_all_that_it_had(run: Run, fresh: str, tmp_path: Path) -> None:
    outcome = load(
        run, fresh, write(tmp_path, [memory(), memory(SECOND, "x" * 2500)], [relation()])
    )

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(
        "Added 0 spaces, 1 entity, 3 facts, 0 relations, 2 memories, 1 link"
    )
    rows = fetch(
        fresh,
        "select r.observation_id::text, e.name, r.tags, r.entities, r.source, r.context, r.extra,"
        " r.strength, r.use_count, extract(epoch from r.last_used)::integer, r.status, r.saved,"
        " r.review_count, r.cross_domain_count, extract(epoch from o.created_at)::integer"
        " from retention r join observation o on o.id = r.observation_id"
        " join entity e on e.id = o.entity_id where o.part is null",
    )
    assert rows == [
        (
            FIRST, "Ada", ["drinks", "q4-plan"], ["Ada", "tea"], "chat", "lunch", {"a": 1},
            1.3, 3, USED, "active", True, 2, 1, BORN,
        )
    ]  # fmt: skip
    texts = fetch(fresh, "select memory_text(space_id, id) from fact where part = 1")
    assert texts == [("x" * 2500,)]
    links = fetch(
        fresh, "select from_id::text, to_id::text, relation_type, strength from memory_link"
    )
    assert links == [(FIRST, SECOND, "supports", 0.5)]


def test_an_imported_memory_has_the_score_of_its_counters(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    load(run, fresh, write(tmp_path, [memory()]))

    [(score, age)] = fetch(
        fresh,
        "select score, extract(epoch from statement_timestamp() - last_used) from memory_decay",
    )

    scale = 3 * 86_400 / (2 ** (1 / 1.1) - 1)
    expected = 4**0.6 * (1 + float(age) / scale) ** -1.1 * 1.3
    assert math.isclose(score, expected, rel_tol=1e-9)


def test_only_the_last_line_of_an_id_counts_and_deleted_ones_are_left_out(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    lines = [
        memory(content="an older text"), memory(SECOND, "deleted"), memory(content="the last text"),
        {"id": SECOND, "_deleted": True},
    ]  # fmt: skip
    links = [relation(), relation(strength=0.9), relation(id="r2"), {"id": "r2", "_deleted": True}]

    outcome = load(run, fresh, write(tmp_path, lines, links))

    assert outcome.code == 0
    assert fetch(fresh, "select content from fact") == [("the last text",)]
    assert fetch(fresh, "select strength from memory_link") == [(0.9,)]


def test_a_second_import_adds_nothing(run: Run, fresh: str, tmp_path: Path) -> None:
    lines = [memory(), memory("not-a-uuid", "another text", entities=[], status="archived")]
    folder = write(tmp_path, lines, [relation(target="not-a-uuid")])
    load(run, fresh, folder)
    before = fetch(fresh, "select to_jsonb(r) from retention r order by observation_id")

    again = load(run, fresh, folder / "memories.jsonl")

    assert again.out.startswith("Added 0 spaces, 0 entities, 0 facts, 0 relations. ")
    assert "2 memories, 1 link" in again.out
    assert fetch(fresh, "select to_jsonb(r) from retention r order by observation_id") == before


def test_an_archived_memory_is_no_longer_valid_and_a_promoted_one_stays_promoted(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    promoted = {"status": "promoted", "promoted_at": USED, "promoted_to": "STM/tea.md"}
    lines = [memory(status="archived"), memory(SECOND, "promoted text", **promoted)]

    load(run, fresh, write(tmp_path, lines))

    assert fetch(fresh, "select content, status from memory_decay") == [
        ("promoted text", "promoted")
    ]
    assert fetch(
        fresh, "select status, ended_at is null, promoted_to from retention order by 1"
    ) == [
        ("archived", False, None),
        ("promoted", True, "STM/tea.md"),
    ]


def test_a_text_that_was_a_fact_before_is_never_taken_by_gc(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    fetch(fresh, "select observation_id from remember_fact('Ada', 'person', 'Ada prefers tea')")

    outcome = load(run, fresh, write(tmp_path, [memory()], [relation(target=FIRST)]))

    assert outcome.code == 0
    assert fetch(fresh, "select count(*), bool_or(saved) from retention") == [(1, False)]
    assert fetch(fresh, "select l.from_id = o.id from memory_link l, fact o") == [(True,)]


def test_bad_lines_are_reported_with_their_numbers(run: Run, fresh: str, tmp_path: Path) -> None:
    bad: list[Any] = [
        "{", "[]", memory(content=""), memory(strength=3), memory(created_at="today"),
        memory(status="lost"), memory(content="\u200b"), {"id": FIRST},
    ]  # fmt: skip
    lines: list[Any] = [
        line | {"id": f"bad-{number}"} if "id" in line else line for number, line in enumerate(bad)
    ]
    links = [relation(relation_type="likes"), relation(id="r2", source="x", strength=2)]

    outcome = load(run, fresh, write(tmp_path, [*lines, memory()], links))

    assert outcome.code == 1
    for number in range(1, 9):
        assert f"line {number}: " in outcome.err
    assert "line 1: of relations.jsonl: relation_type must be one of causes" in outcome.err
    assert "Bad lines: 10." in outcome.out
    assert fetch(fresh, "select content from fact") == [("Ada prefers tea",)]


@pytest.mark.parametrize("what", ["-", "missing"])
def test_a_folder_that_cannot_be_read_is_refused(
    run: Run, fresh: str, tmp_path: Path, what: str
) -> None:
    outcome = load(run, fresh, Path(what) if what == "-" else tmp_path / what)

    assert outcome.code == 1
    assert "their folder" in outcome.err or "cannot be read" in outcome.err


def test_memories_and_links_come_back_from_an_export(
    run: Run, fresh: str, empty: str, tmp_path: Path
) -> None:
    lines = [memory(), memory(SECOND, "y" * 2100, status="archived")]
    load(run, fresh, write(tmp_path, lines, [relation()]))
    query = "select to_jsonb(r) - 'space_id' from {} r order by 1::text"
    tables = ("retention", "memory_link")
    before = {table: fetch(fresh, query.format(table)) for table in tables}

    run("export", "all.jsonl", DATABASE_URL=fresh)
    run("migrate", DATABASE_URL=empty)
    outcome = run("import", "all.jsonl", DATABASE_URL=empty)

    assert outcome.code == 0, outcome.err
    assert {table: fetch(empty, query.format(table)) for table in tables} == before
