"""`textrawl toolsets`."""

import json

from tests.support.commands import Run
from textrawl.tools.catalogue import find_toolsets


def test_toolsets_are_listed_with_their_tools_and_tokens(run: Run) -> None:
    outcome = run("toolsets", "--json", TOOLSETS="graph", READ_ONLY="true", ENABLE_MEMORY="false")

    offers = {offer["name"]: offer for offer in json.loads(outcome.out)}
    assert {name: offer["offered"] for name, offer in offers.items() if offer["offered"]} == {
        "graph": True
    }
    for name, toolset in find_toolsets().items():
        assert [tool["name"] for tool in offers[name]["tools"]] == list(toolset.tools)
        assert offers[name]["tokens"] == sum(tool["tokens"] for tool in offers[name]["tools"]) > 0
        assert offers[name]["purpose"] == toolset.purpose


def test_toolsets_are_drawn_as_a_table(run: Run) -> None:
    shown = " ".join(run("toolsets").out.split())

    assert "│ memory │ yes │ 5 │" in shown
    assert "│ graph │ no │" in shown


def test_a_toolset_that_is_not_there_is_refused_with_those_that_are(run: Run) -> None:
    outcome = run("toolsets", TOOLSETS="poetry")

    known = ", ".join([*find_toolsets(), "all"])
    assert outcome.complaint == (f"TEXTRAWL_TOOLSETS: there is no toolset 'poetry'; known: {known}")
