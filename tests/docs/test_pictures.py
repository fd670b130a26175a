"""Pictures of the explorer and the recording of a terminal in README.md and docs/explorer.md."""

import re
from pathlib import Path

import pytest

from tests.explorer.chromium import CHROMIUM
from tests.explorer.pictures import FOLDER, explore_demo, take_pictures
from tests.explorer.recording import COMMANDS, record_terminal

ROOT = FOLDER.parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "explorer.md")
MOST_BYTES = 150_000


def test_the_pages_show_every_picture_and_no_other_and_each_is_small() -> None:
    shown = {
        (page.parent / address).resolve()
        for page in PAGES
        for address in re.findall(r'src="([^"]+)"', page.read_text("utf-8"))
    }

    assert shown == set(FOLDER.iterdir())
    assert [path.name for path in shown if path.stat().st_size > MOST_BYTES] == []


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_the_pictures_are_taken_from_the_memory_of_the_demo(tmp_path: Path) -> None:
    with explore_demo() as link:
        taken = take_pictures(tmp_path, link)

    assert {path.name for path in taken} == {path.name for path in FOLDER.glob("*.png")}


@pytest.mark.slow
@pytest.mark.release
def test_the_recording_shows_what_its_commands_print_and_loads_no_file(tmp_path: Path) -> None:
    fresh, kept = (
        _read_texts(path) for path in (record_terminal(tmp_path), FOLDER / "terminal.svg")
    )

    assert fresh == kept
    assert sum(line.startswith("$ ") for line in fresh) == len(COMMANDS)
    assert "url(" not in (FOLDER / "terminal.svg").read_text("utf-8").replace("url(#terminal-", "")


def _read_texts(recording: Path) -> list[str]:
    """The texts of a recording without ids, days and scores."""
    cells = re.findall(r"<text[^>]*>([^<]*)</text>", recording.read_text("utf-8"))
    texts = (cell.replace("&#160;", " ").strip() for cell in cells)
    return [re.sub(r"\b(\d{4}-\d\d-\d\d|[0-9a-f]{8})\b|^\d\d$", "…", text) for text in texts]
