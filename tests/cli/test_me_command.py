"""`textrawl me`: I and my in a question mean the entity that a person is."""

import json

from tests.conftest import TOKEN
from tests.support.commands import Run


def test_a_person_says_who_they_are_and_asks_about_me(run: Run, database_url: str) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    for name, fact in (("Jeff", "lives in Riga"), ("Ada", "lives in Oslo")):
        run("remember", name, fact, "--type", "person", **known)

    unset = run("me", **known)
    unknown = run("me", "Jef", **known)
    chosen = run("me", "jeff", **known)
    shown = run("me", "--json", **known)
    asked = run("recall", "where do I live?", **known)
    cleared = run("me", "--clear", **known)

    assert "does not know who you are" in unset.err
    assert (unknown.code, "did you mean Jeff?" in unknown.err) == (1, True)
    assert chosen.out == "You are now Jeff (person) in default\n"
    assert [row["entity_name"] for row in json.loads(shown.out)] == ["Jeff"]
    assert asked.out.splitlines()[0].startswith("Jeff")
    assert cleared.out == "You are no longer Jeff (person) in default\n"
