"""Questions about imported chats, notes and sessions are answered wherever they are asked."""

import json  # noqa
import re
from pathlib import Path
from operator import itemgetter
from statistics import median

import pytest

from tests.hooks.sessions import Session
from tests.support.brought import KINDS, list_questions
from tests.support.commands import Launch, Run
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.slow

FEWEST = 17
FIRST = 3
PASSAGE = 120  # tokens, at the median


def find_first(text: str) -> list[str]:
    """The first results of an answer, as JSON or in lines that begin with a score."""
    if text.startswith("{"):
        found = [fact for entity in json.loads(text)["e"] for fact in entity["m"]]
        found.sort(key=itemgetter("s"), reverse=True)
        return [fact["c"] for fact in found[:FIRST]]
    found = re.findall(r"^(\d{1,3}) (.*)", text, re.MULTILINE)
    return [line for _, line in sorted(found, key=lambda one: -int(one[0]))[:FIRST]]


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_questions_about_an_import_are_answered_by_tool_command_and_hook(
    kind: str, run: Run, launch: Launch, data_dir: Path, tmp_path: Path
) -> None:
    place = {"DATA_DIR": data_dir}
    imported = run("import", str(KINDS[kind](tmp_path)), "--yes", **place)
    assert imported.code == 0, imported.err
    client = launch("serve", **place)
    client.open()

    wrong: dict[str, list[str]] = {"tool": [], "command": [], "hook": []}
    lengths = list[int]()
    for number, (question, words) in enumerate(list_questions(kind), 10):
        call = {"name": "query_memory", "arguments": {"query": question}}
        client.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        tool = client.hear()["result"]["content"][0]["text"]
        command = run("recall", question, **place)
        prompt = Session(
            "claude-code", tmp_path, {"TEXTRAWL_DATA_DIR": str(data_dir)}, patient=True
        )
        told = {
            "tool": find_first(tool),
            "command": find_first(command.out),
            "hook": find_first(prompt.tell("prompt", prompt=question).text),
        }
        lengths += [choose_counter().count(one) for one in find_first(tool)]
        for surface, found in told.items():
            if not any(words in one for one in found):
                wrong[surface].append(question)
        with open("/tmp/brought.log", "a") as log:
            print(
                kind,
                question,
                [(k, any(words in o for o in f)) for k, f in told.items()],
                told["tool"],
                tool[:1500],
                "\n",
                file=log,
            )
    print(run("embed", "status", **place))
    with open("/tmp/brought.log", "a") as log:
        print(
            "SUM",
            kind,
            json.dumps({k: [20 - len(v), v] for k, v in wrong.items()}, indent=1),
            median(lengths or [0]),
            file=log,
        )

    assert {surface: 20 - len(missed) for surface, missed in wrong.items()} == 1
    assert median(lengths or [0]) <= PASSAGE
