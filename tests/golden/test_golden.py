"""Golden patches: usual changes still apply, pass their tests, and touch few files."""

from pathlib import Path

import pytest

from tests.golden import new_column, new_format, new_tool
from tests.golden.patch import Patch, find_touched

PATCHES: dict[str, tuple[Patch, int]] = {
    # The number of files may only fall.
    "a new column of a fact": (new_column.PATCH, 11),
    "a new import format": (new_format.PATCH, 4),
    "a new tool": (new_tool.PATCH, 7),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PATCHES)
def test_a_usual_change_touches_few_files_and_passes_the_tests_near_it(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patch, most = PATCHES[name]

    touched = find_touched(patch, tmp_path)

    with capsys.disabled():
        print(f"\n{name}: {len(touched)} files")  # noqa: T201 - the number is what the test is for
    assert len(touched) <= most, touched
