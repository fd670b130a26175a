"""Whatever text there may be, it comes back from a file as it was; and files may be long."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.archive.material import ENTITY, FACT, SPACE, fetch, number
from tests.support.commands import Run
from textrawl.settings import read_foreign_environment
from textrawl.values.text import clean_fact, clean_name

MANY = 20_000


def is_fact(text: str) -> bool:
    """Whether it is one that tools would take."""
    try:
        return 0 < len(clean_fact(text)) <= 2_000
    except ValueError:
        return False


FACTS = st.text(min_size=1, max_size=80).filter(is_fact)
NAMES = st.text(min_size=1, max_size=40).filter(lambda name: 0 < len(clean_name(name)) <= 200)
MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
)
LINES = st.fixed_dictionaries({
    "name": NAMES, "text": FACTS, "author": NAMES, "client": st.none() | NAMES,
    "confidence": st.floats(0, 1, width=32), "valid_from": MOMENTS, "created_at": MOMENTS,
    "valid_until": st.none() | MOMENTS, "said_at": st.none() | MOMENTS,
})  # fmt: skip

STORED_AT = datetime(2023, 5, 8, tzinfo=UTC)
SAID_WHEN_STORED: dict[str, Any] = {
    "name": "Ana", "text": "plays chess", "author": "Ben", "client": None, "confidence": 1.0,
    "valid_from": STORED_AT, "created_at": STORED_AT, "valid_until": None, "said_at": STORED_AT,
}  # fmt: skip


def write_lines(file: Path, facts: list[dict[str, Any]]) -> None:
    """An export with an entity and a fact for each."""
    lines: list[dict[str, Any]] = [{"textrawl": "export", "version": 1}, SPACE]
    for place, entry in enumerate(facts):
        lines.append(ENTITY | {"id": number(1, place), "name": entry["name"]})
    for place, entry in enumerate(facts):
        moments = {key: entry[key] and entry[key].isoformat()
                   for key in ("valid_from", "valid_until", "created_at", "said_at")}  # fmt: skip
        said = {key: entry[key] for key in ("text", "author", "client", "confidence")}
        lines.append(FACT | said | moments | {"id": number(2, place), "entity": number(1, place)})
    counts = {"space": 1, "entity": len(facts), "fact": len(facts), "relation": 0}
    lines.append({"textrawl": "end", **counts})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def read_facts(file: Path) -> dict[str, dict[str, Any]]:
    """The facts of an export by their ids."""
    lines = map(json.loads, file.read_bytes().splitlines())
    return {line["id"]: line for line in lines if line.get("kind") == "fact"}


def empty(url: str) -> None:
    with psycopg.connect(url) as owner:
        owner.execute("delete from textrawl.observation")
        owner.execute("delete from textrawl.entity")


@pytest.mark.slow
@given(facts=st.lists(LINES, min_size=1, max_size=8))
@example(facts=[SAID_WHEN_STORED])
@settings(max_examples=25)
def test_whatever_tools_would_take_comes_back_as_it_was(
    run: Run, fresh: str, tmp_path: Path, facts: list[dict[str, Any]]
) -> None:
    empty(fresh)
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    write_lines(one, facts)

    imported = run("import", str(one), DATABASE_URL=fresh)
    assert imported.code == 0, imported.err
    assert run("export", str(two), "--force", DATABASE_URL=fresh).code == 0
    empty(fresh)
    assert run("import", str(two), DATABASE_URL=fresh).code == 0
    assert run("export", str(three), "--force", DATABASE_URL=fresh).code == 0

    assert two.read_bytes() == three.read_bytes()
    found = read_facts(two)
    for place, entry in enumerate(facts):
        line = found.get(number(2, place))
        if line is None:  # another said the same of an entity of that name
            assert len(found) < len(facts)
            continue
        assert line["text"] == clean_fact(entry["text"])
        assert line["author"] == clean_name(entry["author"])
        assert line["confidence"] == pytest.approx(entry["confidence"], rel=1e-6)
        assert datetime.fromisoformat(line["created_at"]) == entry["created_at"]
        # A fact that was said when it was stored has no time of its own for `said_at`.
        said_at = None if entry["said_at"] == entry["created_at"] else entry["said_at"]
        for key, moment in {"valid_until": entry["valid_until"], "said_at": said_at}.items():
            assert (line[key] and datetime.fromisoformat(line[key])) == moment


FILL = """
    with about as (
        insert into entity (space_id, name, name_key, entity_type, fts)
        select 1, 'entity ' || n, 'entity ' || n, 'person', '' from generate_series(1, 500) n
        returning id, name
    )
    insert into observation (space_id, entity_id, entity_type, content, content_hash, source,
                             valid_until, author_id, tool, fts)
    select 1, about.id, 'person', content, md5(fact_key(content))::uuid, 'note',
        '2026-01-01', (select min(id) from actor), 'test', ''
    from generate_series(1, %(facts)s) n
    join about on about.name = 'entity ' || (1 + n %% 500)
    cross join lateral (select n || repeat(' word', 80) as content) told
"""
LINK = """
    update observation o set replaced_by = (select min(id::text)::uuid from observation)
    where id <> (select min(id::text)::uuid from observation)
"""


def measure(url: str, *words: str) -> int:
    """Bytes that a command had resident at most, in a process of its own."""
    program = (
        "import resource, sys\nfrom textrawl.__main__ import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n"
        "    print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n    raise\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        check=False,
        env=read_foreign_environment() | {"DATABASE_URL": url},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split("peak ")[1]) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
def test_twenty_thousand_facts_pass_through_little_memory(fresh: str, tmp_path: Path) -> None:
    small, large = str(tmp_path / "small"), str(tmp_path / "large")
    commands = ("export", "import")
    least = [measure(fresh, command, small) for command in commands]
    with psycopg.connect(fresh) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute(FILL, {"facts": MANY})
        owner.execute(LINK)

    most = [measure(fresh, command, large) for command in commands]

    size = Path(large).stat().st_size
    assert size > 14_000_000
    for few, many in zip(least, most, strict=True):
        assert many - few < 25_000_000
    assert fetch(fresh, "select count(*) from observation") == [(MANY,)]
