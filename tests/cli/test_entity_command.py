"""`textrawl entity`: what the tools of the entities toolset do, for people."""

import json

from tests.conftest import TOKEN
from tests.support.commands import Run


def test_aliases_and_merges_at_a_terminal(run: Run, database_url: str) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    for name, fact in (("Jeff Miller", "drinks tea"), ("jmiller", "drinks tea")):
        run("remember", name, fact, **known)

    same = run("entity", "same", "--json", **known)
    plan = run("entity", "merge", "Jeff Miller", "jmiller", "--dry-run", **known)
    merged = run("entity", "merge", "Jeff Miller", "jmiller", "--json", **known)
    added = run("entity", "alias", "add", "jmiller", "Jeffrey", **known)
    listed = run("entity", "alias", "list", "Jeff Miller", "--json", **known)
    split = run("entity", "split", "jmiller", **known)
    removed = run("entity", "alias", "remove", "jeffrey", **known)
    unknown = run("entity", "split", "jmiller", **known)

    [pair] = json.loads(same.out)
    assert (pair["entity_name"], pair["other_name"]) == ("Jeff Miller", "jmiller")
    assert plan.out.splitlines()[0].startswith("Would merge jmiller")
    assert plan.out.splitlines()[-1] == "  drinks tea"
    assert json.loads(merged.out)["duplicate_facts"] == 1
    assert added.out == "Jeffrey is a name of Jeff Miller\n"
    aliases = {row["alias"]: row["merged"] for row in json.loads(listed.out)}
    assert aliases == {"jmiller": True, "Jeffrey": False}
    assert split.out.splitlines()[0] == "Split jmiller from Jeff Miller"
    assert removed.out == "Jeffrey is no longer a name of Jeff Miller\n"
    assert unknown.code != 0
    assert "Nothing was merged as jmiller" in unknown.err
