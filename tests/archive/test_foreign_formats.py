"""Exports of other systems become the conversations that a person had, and nothing else."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.archive import foreign
from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.detection import find_format, find_parts, read_items, read_plan
from textrawl.archive.items import Conversation, Fault, ImportedNote

A, U = "assistant", "user"
Expected = list[tuple[str, ...] | list[Any]]

_FORMATS: dict[str, tuple[Callable[[Path], Path], list[Any]]] = {
    "chatgpt": (
        foreign.write_odd_chatgpt,
        [
            ["branchy", "Branches", None,
             (U, "[image]\n\nSecond wording\n\nsaid aloud"), (A, "Second answer")],
            ["old", "", None, (U, "Of 2023"), (A, "An old answer")],
            "conversations.json, conversation 3",
            ["cycle", "Round", None, (U, "round"), (A, "and round")],
            ["twin", "Served twin", None, (U, "What is served?"), (A, "earlier")],
            ["twin", "Served twin", None, (U, "What is served?"), (A, "later")],
            "conversations.json, conversation 7",
        ],
    ),
    "claude": (
        foreign.write_claude,
        [
            ["c1", "Shopping", None,
             (U, "Read this\n\n[notes.txt]\nBuy tea"), (A, "Tea it is"), (U, "[cup.png]")],
            ["c2", "", None, (U, "Only text")],
            "conversations.json, item 3",
            ["memory u", "Memory of Claude", "Likes tea"],
            ["p1", "Project House", "All about the house\n\nBe brief"],
            ["d1", "rules.md of the project House", "No shoes"],
        ],
    ),
    "claude-code": (
        foreign.write_claude_code,
        [
            "-home-ada-tea/s2.jsonl, line 2",
            ["s2", "A second tea", "/home/ada/tea", (U, "Second")],
            ["s1", "Brewing tea", "/home/ada/tea",
             (U, "Brew te"), (A, "A first try"), (U, "Brew it"), (A, "Done")],
            ["s0", "", "/home/ada/tea", (U, "And milk?")],
        ],
    ),
    "codex": (
        foreign.write_codex,
        [
            ["01a215ac-d4a6-7e93-895a-bc4241d05d3d", "", "/home/ada", (U, "First"), (U, "Second")],
            ["c1", "", "/home/ada", (U, "Fix it"), (A, "Fixed")],
            ["c3", "", None, (U, "Old")],
        ],
    ),
    "gemini-cli": (
        foreign.write_gemini,
        [
            ["g1", "", "/home/ada/tea", (U, "When?"), (A, "At four.")],
            ["g3", "", "/home/ada/tea", (U, "Of 2025"), (A, "Yes")],
            "tea/chats/session-4.json",
        ],
    ),
    "copilot-cli": (
        foreign.write_copilot,
        [["p1", "", "/home/ada", (U, "Which tea?"), (A, "Green tea")]],
    ),
    "opencode": (
        foreign.write_opencode,
        [
            ["o1", "Tea", "/home/ada", (U, "Which tea?"), (A, "Green tea")],
            ["o4", "Cut", "/home/ada", (U, "Kept")],
        ],
    ),
}  # fmt: skip


def _show(item: object) -> object:
    match item:
        case Conversation():
            turns = [(turn.speaker, turn.text) for turn in item.turns]
            return [item.id, item.title, item.place, *turns]
        case ImportedNote():
            return [item.id, item.title, item.text]
        case Fault():
            return item.place
        case _:
            return item


@pytest.mark.parametrize("name", _FORMATS)
def test_a_format_is_recognised_and_read_as_the_person_saw_it(name: str, tmp_path: Path) -> None:
    write, expected = _FORMATS[name]
    place = write(tmp_path)
    bundle = Bundle(place)
    form = find_format(bundle, None)

    assert form.name == name
    assert [_show(item) for item in read_items(form, bundle)] == expected
    plan = read_plan(form, bundle, lambda _: None)
    kinds = [type(item).__name__ for item in read_items(form, bundle)]
    assert plan.counts.get("conversation", 0) == kinds.count("Conversation")
    assert len(plan.faults) == kinds.count("Fault")
    assert plan.period.first is not None


def _bomb(folder: Path) -> Path:
    with (
        zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as opened,
        opened.open("conversations.json", "w") as file,
    ):
        file.write(b'[{"mapping": {}}')
        for _ in range(40):
            file.write(b" " * (1 << 20))
    return folder / "bomb.zip"


def _escape(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "escape.zip", "w") as opened:
        opened.writestr("../../conversations.json", "[]")
    return folder / "escape.zip"


def _encrypt(folder: Path) -> Path:
    content = bytearray(foreign.write_odd_chatgpt(folder).read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content[at + place] |= 1
    (folder / "encrypted.zip").write_bytes(content)
    return folder / "encrypted.zip"


def _cut(folder: Path) -> Path:
    whole = foreign.write_odd_chatgpt(folder).read_bytes()
    (folder / "cut.zip").write_bytes(whole[: len(whole) // 2])
    return folder / "cut.zip"


def _cut_json(folder: Path) -> Path:
    file = folder / "conversations.json"
    foreign.write_chatgpt(file, {"a": "one", "b": "two"})
    file.write_text(file.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    return file


def _nest(folder: Path) -> Path:
    file = folder / "conversations.json"
    file.write_text('[{"mapping": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}]", encoding="utf-8")
    return file


def _lengthen(folder: Path) -> Path:
    file = folder / "conversations.json"
    with file.open("wb") as opened:
        opened.write(b'[{"mapping": {"a": "')
        for _ in range(34):
            opened.write(b"x" * (1 << 20))
        opened.write(b'"}}]')
    return file


def test_the_only_file_of_a_format_in_a_folder_is_found(tmp_path: Path) -> None:
    foreign.write_lines(tmp_path / "notes.txt", "hello")
    file = foreign.write_lines(tmp_path / "memory.jsonl", '{"textrawl": "export"}')

    [(form, bundle)] = find_parts(Bundle(tmp_path), None)

    assert (form.name, bundle.path) == ("textrawl", file)


_HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a zip bomb": (_bomb, "like a zip bomb"),
    "a path out of the zip": (_escape, "leads out of it"),
    "an encrypted zip": (_encrypt, "is encrypted: unpack it"),
    "a zip that is cut": (_cut, "is not a whole zip"),
    "a file that is cut": (_cut_json, "it is cut"),
    "a million arrays": (_nest, "is nested too deeply"),
    "a very long item": (_lengthen, "has an item of more than 32 MB"),
    "nothing known": (lambda at: foreign.write_lines(at / "x.txt", "hello"), "none of the formats"),
    "a backup": (lambda at: foreign.write_lines(at / "x.dump", "PGDMP"), "`textrawl restore`"),
    "an encrypted file in a folder": (
        lambda at: foreign.write_lines(at / "x.age", "age-encryption.org/v1").parent, "--identity"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_hostile_file_is_refused_before_anything_is_stored(name: str, tmp_path: Path) -> None:
    write, reason = _HOSTILE[name]

    def read(place: Path) -> None:
        bundle = Bundle(place)
        read_plan(find_format(bundle, None), bundle, lambda _: None)

    place = write(tmp_path)
    with pytest.raises(BundleRefused, match="Nothing was imported: ") as refused:
        read(place)
    assert reason in str(refused.value)
