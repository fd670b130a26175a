"""`textrawl stats` and its page."""

import json
import re
import shutil
import stat
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import psycopg
import pytest

from tests.conftest import TOKEN
from tests.support.commands import Run


def tell(owner: psycopg.Connection) -> None:
    owner.execute("select remember_fact('Ada', 'person', 'drinks tea')")


class Page(HTMLParser):
    """Tags of a page, and every address that it might load something from."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags = list[str]()
        self.addresses = list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = ("src", "href", "xlink:href", "data", "action")
        self.addresses += [value for name, value in attrs if name in names and value]


def test_the_page_of_stats_has_charts_and_loads_nothing(
    run: Run, owner: psycopg.Connection, database_url: str, tmp_path: Path
) -> None:
    tell(owner)
    owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
        " dropped, query, query_hash, milliseconds) select default_space(), now(), 'search',"
        " 'lines', false, 10, 50, 0, 0, '<script>alert(1)</script>', 'a', 3"
    )
    file = tmp_path / "memory.html"
    done = run("stats", "--html", str(file), DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)
    assert (done.code, done.out) == (0, ""), done.err
    text = file.read_text(encoding="utf-8")
    page = Page(text)

    assert page.tags.count("svg") == 3
    assert [address for address in page.addresses if not address.startswith("#")] == []
    assert {"script", "link", "img", "iframe", "image"} & set(page.tags) == set()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "the last 90 days" in text
    assert "@import" not in text
    assert "url(" not in text.replace("url(#", "")  # a part of the page itself


def test_the_page_of_stats_is_for_its_owner_alone(
    run: Run, database_url: str, tmp_path: Path
) -> None:
    new, old = tmp_path / "new.html", tmp_path / "old.html"
    old.write_text("public before")
    old.chmod(0o644)

    for file in (new, old):
        run("stats", "--html", str(file), DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "public before" not in file.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no browser here")
def test_the_page_of_stats_fits_a_telephone(
    run: Run, owner: psycopg.Connection, database_url: str, tmp_path: Path
) -> None:
    tell(owner)
    owner.execute("update observation set content = repeat('https://example.com/', 20)")
    owner.execute("update observation set confidence = 0.2")
    file = tmp_path / "memory.html"
    run("stats", "--html", str(file), DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)
    # The page runs no script by itself: a frame of a telephone's width measures it from outside.
    frame = tmp_path / "frame.html"
    frame.write_text(
        '<iframe src="memory.html" width="390" height="900" onload="'
        "const d = this.contentDocument.documentElement;"
        "document.title = d.clientWidth + ' ' + d.scrollWidth;"
        "document.body.innerText = document.title"
        '"></iframe>'
    )
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--disable-background-networking", "--allow-file-access-from-files",
         f"--user-data-dir={tmp_path / 'profile'}", frame.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip

    found = re.search(r"<title>(\d+) (\d+)</title>|<body>(\d+) (\d+)", shown)
    assert found, shown
    width, needed = (int(number) for number in found.groups() if number)
    assert needed <= width <= 390


def test_stats_show_growth_costs_and_what_is_missing(
    run: Run, owner: psycopg.Connection, database_url: str
) -> None:
    tell(owner)
    owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, verbose_tokens,"
        " budget, items, dropped, query, query_hash, score, hits, milliseconds)"
        " select default_space(), now(), 'search', 'lines', false, 100, 400, 2000, 0, 0,"
        " 'where is the key?', 'a', 0.1, 1, 12.3"
    )
    owner.execute("update observation set confidence = 0.2")
    terminal = {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "100"}
    drawn = run("stats", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN, **terminal).out
    shown = re.sub(r"\x1b\[[0-9;]*m", "", drawn)
    report = json.loads(run("stats", "--json", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).out)

    assert "█  1 fact in the fullest week" in shown
    assert "about 300 saved, 75% of verbose text" in shown
    assert "without searches of commands" in shown
    assert "12.3 ms  search where is the key?" in shown
    assert "Unanswered: 1 question that found little" in shown
    assert "Stale: 1 fact (1 low confidence), the oldest" in shown
    assert report["recalls"]["tokens"] == 100
    assert report["unanswered"]["most"][0]["asked"] == "where is the key?"
    assert sum(week["facts"] for week in report["growth"]) == 1


def test_stats_say_how_to_keep_the_words_of_a_question_instead_of_its_hash(
    run: Run, owner: psycopg.Connection, database_url: str
) -> None:
    owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
        " dropped, query_hash, score, hits, milliseconds) select default_space(), now(),"
        " 'search', 'lines', false, 100, 2000, 0, 0, 'bd4bc0d4ae0d5699', 0.1, 1, 12.3"
    )
    shown = run("stats", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN).out

    assert "bd4bc0d4" not in shown
    assert shown.count("(its words are kept with TEXTRAWL_RECORD_RECALLS=text)") == 2


def test_stats_and_costs_of_one_space_leave_out_the_others(
    run: Run, owner: psycopg.Connection, database_url: str
) -> None:
    tell(owner)
    owner.execute("select create_space('other')")
    owner.execute("select grant_access('ada', 'other', array['read', 'write'])")
    owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
        " dropped) select id, now(), 'search', 'lines', false, 100, 2000, 0, 0 from space"
    )
    place = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    of_all, of_other = (
        json.loads(run("stats", "--json", *words, **place).out)
        for words in ((), ("--space", "other"))
    )
    costs = json.loads(run("cost", "--json", "--space", "other", **place).out)

    assert (of_all["facts"], of_all["recalls"]["calls"]) == (1, 2)
    assert (of_other["facts"], of_other["recalls"]["calls"]) == (0, 1)
    assert costs["recalls"]["recalls"] == 1
    assert "Space not found" in run("stats", "--space", "atlantis", **place).complaint


def test_stats_show_calls_to_the_llm_with_tokens_and_failures(
    run: Run, owner: psycopg.Connection, database_url: str, tmp_path: Path
) -> None:
    owner.execute("select record_llm_use('extract', 'Ollama m', 1, 900, 80, 2500)")
    owner.execute("select record_llm_use('extract', 'Ollama m', 3, 0, 0, 500, 'LLM_UNREACHABLE')")
    access = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    file = tmp_path / "memory.html"
    run("stats", "--html", str(file), **access)

    line = "900 tokens in, 80 out; 1500 ms; failed: 1 LLM_UNREACHABLE"
    assert line in " ".join(run("stats", **access).out.split())
    assert line in file.read_text(encoding="utf-8")
    assert json.loads(run("stats", "--json", **access).out)["llm"] == [
        {
            "purpose": "extract", "calls": 2, "failures": 1, "tokens_in": 900, "tokens_out": 80,
            "p50_ms": 1500, "errors": {"LLM_UNREACHABLE": 1},
        }
    ]  # fmt: skip


def test_a_page_that_cannot_be_written_is_an_error_of_one_line(
    run: Run, database_url: str, tmp_path: Path
) -> None:
    missing = tmp_path / "nowhere" / "page.html"
    refused = run("stats", "--html", str(missing), DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)
    assert refused.code == 1
    assert "cannot be written" in refused.complaint
