"""SQLSTATEs of our own: each that SQL raises has its error, and none stands in the table unused."""

import re
from typing import get_args

from tests.support.pages import ROOT
from textrawl.access.principal import Scope
from textrawl.postgres.sqlstates import REFUSALS, DataRefused

RAISED = {
    code
    for file in sorted((ROOT / "sql").rglob("*.sql"))
    for code in re.findall(r"'(TR\d{3})'", file.read_text(encoding="utf-8"))
}


def test_every_sqlstate_that_sql_raises_has_its_error() -> None:
    assert RAISED - REFUSALS.keys() == set()


def test_every_error_of_the_table_is_raised_by_sql() -> None:
    assert REFUSALS.keys() - RAISED == set()


def test_an_error_names_its_subject_and_a_way_out() -> None:
    for code in sorted(REFUSALS):
        error = DataRefused(code, "staging").explain("replaces")

        assert error.title
        assert error.fix
        assert "{}" not in f"{error.title} {error.fix}"


def test_wrong_scopes_are_answered_with_all_scopes_that_there_are() -> None:
    assert ", ".join(get_args(Scope)) in DataRefused("TR026", "root").explain().fix
