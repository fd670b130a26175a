"""benchmarks/clients.md says of a program what its module says; `pytest -m clients` tries it."""

import re

from tests.clients.catalogue import PROGRAMS, QUICK
from tests.clients.connecting import write_results
from tests.clients.matrix import PAGE, write_expected
from tests.support.pages import rewrite_generated


def test_the_page_has_a_row_for_every_program_with_what_it_shows() -> None:
    page = PAGE.read_text(encoding="utf-8")

    writers = {"clients": write_expected, "connecting": write_results}
    assert rewrite_generated(page, writers) == page, (
        "`UPDATE_PAGES=1 pytest -m clients` writes the matrix"
    )


def test_every_program_is_pinned_to_the_version_that_the_matrix_names() -> None:
    unpinned = [
        package
        for program in PROGRAMS
        for package in program.packages
        if not re.search(r"(.@|==|<)[0-9][0-9.]*[0-9]$", package)
    ]
    named = [program.name for program in PROGRAMS if program.version in program.packages[0]]

    assert unpinned == []
    assert named == [program.name for program in PROGRAMS]
    assert len(QUICK) == 3
