"""`textrawl ingest` is killed at random moments: every source is whole, and there exactly once."""

import random
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from anyio.from_thread import start_blocking_portal

from tests.support.commands import Launch
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.memory.chunking import chunk_text

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("uncovered")]

FILES = 120
PARAGRAPH = "The kitchen of house {house} closes at {hour}, and its last guest leaves at {later}. "


class Corpus:
    """A folder of files that change, with every text that each file has had."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder = folder
        self.dice = dice
        self.texts: dict[str, list[str]] = {f"docs/{n}.md": [] for n in range(FILES)}
        folder.mkdir()
        for name in self.texts:
            self.write(name)

    def write(self, name: str) -> None:
        """Writes a new text of some chunks."""
        lines = [
            PARAGRAPH.format(house=n, hour=self.dice.random(), later=self.dice.random())
            for n in range(self.dice.randint(1, 120))
        ]
        (self.folder / Path(name).name).write_text("\n\n".join(lines), encoding="utf-8")
        self.texts[name].append("\n\n".join(lines))

    def change(self) -> None:
        """Writes a third of the files anew."""
        for name in self.dice.sample(sorted(self.texts), FILES // 3):
            self.write(name)


@contextmanager
def open_owner(data: Path) -> Generator[psycopg.Connection[Any]]:
    """A session of the owner on the memory in a folder."""
    with start_blocking_portal() as portal:
        running = portal.wrap_async_context_manager(run_embedded(data))
        with running as cluster, psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
            owner.execute("set search_path = textrawl, public")
            yield owner


def read_sources(owner: psycopg.Connection[Any]) -> dict[str, tuple[str, list[str]]]:
    """The text and the chunks of each source by its label, which only one source may have."""
    rows = owner.execute(
        "select s.label, v.content, (select array_agg(o.content order by (k ->> 1)::int)"
        "   from jsonb_array_elements(v.attributes -> 'chunks') k"
        "   join observation o on o.whole = d.id and o.part = (k ->> 0)::int"
        "   join chunk c on c.observation_id = o.id)"
        " from source s join document d on d.id = s.document_id"
        " join document_version v on v.document_id = d.id and v.version = d.version"
    ).fetchall()
    assert len({label for label, *_ in rows}) == len(rows)
    return {label: (content, chunks) for label, content, chunks in rows}


def assert_whole(owner: psycopg.Connection[Any], corpus: Corpus) -> None:
    """Every source has a text that its file had, and all chunks of this text, and nothing else."""
    sources = read_sources(owner)
    for label, (content, chunks) in sources.items():
        assert content in corpus.texts[label]
        assert chunks == [content[c.start :][: c.length] for c in chunk_text(content, "markdown")]
    [documents, facts, stored] = (
        owner.execute(
            "select (select count(*) from document), (select count(*) from observation),"
            " (select coalesce(sum(chunks), 0) from source)"
        ).fetchone()
        or [None] * 3
    )
    assert documents == len(sources)
    assert facts == stored == sum(len(chunks) for _, chunks in sources.values())


def run_for(
    launch: Launch, corpus: Corpus, environment: dict[str, Any], limit: float
) -> float | None:
    """The seconds of an ingest, or None if it was killed after `limit` seconds."""
    began = time.monotonic()
    process = launch("ingest", str(corpus.folder), **environment).popen
    try:
        process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    assert process.returncode == 0
    return time.monotonic() - began


@pytest.mark.parametrize("kills", [4, pytest.param(16, marks=pytest.mark.release)])
def test_a_killed_ingest_goes_on_without_a_doubled_or_half_source(
    launch: Launch, data_dir: Path, tmp_path: Path, kills: int
) -> None:
    corpus = Corpus(tmp_path / "docs", random.Random(20))  # noqa: S311 - texts, not keys
    environment = {"DATA_DIR": data_dir, "EMBEDDING_PROVIDER": "local"}
    with open_owner(data_dir) as owner:
        owner.execute("select create_space('handbook', tier => 'personal')")
    killed, limit = 0, 6.0
    while killed < kills:
        seconds = run_for(launch, corpus, environment, corpus.dice.uniform(limit / 4, limit))
        with open_owner(data_dir) as owner:
            assert_whole(owner, corpus)
        corpus.change()
        # A run that ends by itself tells how long a run takes, so that later kills come in time.
        killed, limit = (killed + 1, limit) if seconds is None else (killed, seconds)

    done = launch("ingest", str(corpus.folder), **environment).end()

    assert done.code == 0, done.err
    with open_owner(data_dir) as owner:
        assert_whole(owner, corpus)
        newest = {name: texts[-1] for name, texts in corpus.texts.items()}
        assert {label: text for label, (text, _) in read_sources(owner).items()} == newest
        assert owner.execute("table embedding_pending").fetchall() == []
        assert owner.execute(
            "select count(*) from observation o where not exists"
            " (select from embedding_1 e where e.observation_id = o.id)"
        ).fetchone() == (0,)
