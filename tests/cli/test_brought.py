"""Questions about imported chats, notes and sessions are answered wherever they are asked."""

import getpass
import json
import re
from operator import itemgetter
from pathlib import Path
from statistics import median

import pytest

from tests.hooks.sessions import Session
from tests.support.brought import KINDS, list_questions
from tests.support.commands import Launch, Run
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.slow

FEWEST = 17  # of twenty
FIRST = 3
PASSAGE = 120  # tokens, at the median


def find_first(text: str) -> list[str]:
    """The first results of an answer, as JSON or in lines that begin with a score."""
    if text.startswith("{"):
        found = [fact for entity in json.loads(text)["e"] for fact in entity["m"]]
        found.sort(key=itemgetter("s"), reverse=True)
        return [fact["c"] for fact in found[:FIRST]]
    scored = re.findall(r"^(\d{1,3}) (.*)", text, re.MULTILINE)
    return [line for _, line in sorted(scored, key=lambda one: -int(one[0]))[:FIRST]]


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
    passages = list[int]()
    for number, (question, words) in enumerate(list_questions(kind), 10):
        call = {"name": "query_memory", "arguments": {"query": question}}
        client.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        told = client.hear()["result"]["content"][0]["text"]
        prompt = Session(
            "claude-code", tmp_path, {"TEXTRAWL_DATA_DIR": str(data_dir)}, patient=True
        )
        answers = {
            "tool": told,
            "command": run("recall", question, **place).out,
            "hook": prompt.tell("prompt", prompt=question).text,
        }
        for surface, text in answers.items():
            if not any(words in one for one in find_first(text)):
                wrong[surface].append(question)
        passages += [
            choose_counter().count(fact["c"])
            for entity in json.loads(told)["e"]
            if entity["t"] == "document"
            for fact in entity["m"]
        ]

    right = {surface: 20 - len(missed) for surface, missed in wrong.items()}
    assert min(right.values()) >= FEWEST, wrong
    assert max(right.values()) - min(right.values()) <= 2, wrong
    assert median(passages) <= PASSAGE


def test_the_system_of_an_import_is_no_second_author_for_tool_command_and_hook(
    run: Run, launch: Launch, data_dir: Path, tmp_path: Path
) -> None:
    place = {"DATA_DIR": data_dir}
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    note = "---\nberth: 14\n---\nShe sails with [[Mira]].\n"
    (tmp_path / "vault" / "Gannet.md").write_text(note, "utf-8")
    assert run("import", str(tmp_path / "vault"), "--yes", **place).code == 0
    run("remember", "Gannet", "has a berth in Kiel", **place)
    client = launch("serve", **place)
    client.open()

    question = "where is the berth of Gannet?"
    texts = list[str]()
    for number, more in enumerate(({"query": question}, {"entityName": "Gannet"}), 10):
        mode = "search" if "query" in more else "entity"
        call = {"name": "query_memory", "arguments": {"mode": mode, **more}}
        client.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        texts.append(client.hear()["result"]["content"][0]["text"])
    prompt = Session("claude-code", tmp_path, {"TEXTRAWL_DATA_DIR": str(data_dir)}, patient=True)
    texts.append(run("recall", question, **place).out)
    texts.append(prompt.tell("prompt", prompt=question).text)

    for text in texts:
        assert "berth: 14" in text
        assert "has a berth in Kiel" in text
        assert "Obsidian" not in text
        assert '"by"' not in text
        assert getpass.getuser() not in text
