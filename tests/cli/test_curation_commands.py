"""`textrawl revise` and `textrawl share`: what the tools of the curation toolset do, for people."""

import json

from tests.conftest import TOKEN
from tests.support.commands import Run


def test_revise_says_what_was_wrong_and_show_tells_why(run: Run, database_url: str) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    run("remember", "Jeff", "lives in Oslo", **known)
    words = ("revise", "Jeff", "lives in Oslo", "--reason", "he said Bergen")

    first = run(*words, "--instead", "lives in Bergen", **known)
    again = run(*words, "--instead", "lives in Bergen", "--json", **known)
    shown = run("show", "Jeff", **known)

    assert first.code == again.code == 0
    assert first.out.splitlines()[0] == "Revised Jeff: lives in Oslo"
    assert first.out.splitlines()[1].endswith("lives in Bergen")
    assert json.loads(again.out)["repeated"] is True
    wrong = [line.split("\t") for line in shown.out.splitlines()][-1]
    assert (wrong[0], *wrong[3:]) == ("wrong", "lives in Oslo", "he said Bergen")
