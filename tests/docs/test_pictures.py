"""Pictures of the explorer in the README and in docs/explorer.md."""

import re
import struct
from pathlib import Path

import pytest

from tests.explorer.chromium import CHROMIUM
from tests.explorer.pictures import FOLDER, HEIGHT, WIDTH, explore_demo, take_pictures

ROOT = FOLDER.parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "explorer.md")


def test_the_pages_show_every_picture_in_light_and_dark_and_no_other() -> None:
    shown = {
        (page.parent / address).resolve()
        for page in PAGES
        for address in re.findall(r'(?:src|srcset)="([^"]+)"', page.read_text("utf-8"))
    }

    assert shown == set(FOLDER.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_the_pictures_are_taken_from_the_memory_of_the_demo(tmp_path: Path) -> None:
    with explore_demo() as link:
        taken = take_pictures(tmp_path, link)

    assert {path.name for path in taken} == {path.name for path in FOLDER.iterdir()}
    assert {_read_size(path) for path in (*taken, *FOLDER.iterdir())} == {(WIDTH, HEIGHT)}


def _read_size(picture: Path) -> tuple[int, int]:
    """The width and height of a PNG, https://www.w3.org/TR/png-3/#11IHDR."""
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height
