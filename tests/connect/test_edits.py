"""Additions to random documents: they keep everything else, and can be taken back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.connect.documents import json_texts, toml_texts
from textrawl.connect.clients import Addition, FileFormat
from textrawl.connect.edits import FORMATS, guess_edit, is_made, make, merge, take_back
from textrawl.connect.json_edits import NotUnderstood

ENTRY = {
    "command": "/opt/textrawl", "args": ["run", "é"], "required": True,
    "env": {"TEXTRAWL_STRUCTURED_CONTENT": "off"},
}  # fmt: skip
PLACES = st.sampled_from([("mcpServers", "textrawl"), ("textrawl",), ("a", "b", "textrawl")])


def add(format_: FileFormat, keys: tuple[str, ...], value: object, *, append: bool) -> Addition:
    return Addition(Path("~/x"), format_, keys, value, append)


def read(format_: FileFormat, text: str) -> Any:
    return FORMATS[format_].read(text)


def try_to_make(text: str, addition: Addition) -> Any:
    """The text and the edit; only documents that are sound and have room for it count."""
    try:
        document = read(addition.format, text)
        merge(document, addition.keys, addition.value, append=addition.append)
    except NotUnderstood:
        assume(False)
    assert not is_made(text, addition)
    return make(text, addition)


@given(json_texts(), PLACES, st.booleans(), st.sampled_from([ENTRY, "one", True]))
@example("", ("mcpServers", "textrawl"), False, ENTRY)
@example("\ufeff\r\n", ("mcpServers", "textrawl"), False, ENTRY)
@example("// only a comment", ("mcpServers", "textrawl"), False, ENTRY)
@example("{}", ("mcpServers", "textrawl"), True, ENTRY)
@example('{\r\n\t"mcpServers": {}, // c\r\n}', ("mcpServers", "textrawl"), False, ENTRY)
def test_an_addition_to_json_is_taken_back_byte_for_byte(
    text: str, keys: tuple[str, ...], append: bool, value: object
) -> None:
    addition = add("jsonc", keys, value, append=append)
    edited, edit = try_to_make(text, addition)

    assert is_made(edited, addition)
    assert take_back(edited, edit) == text


@given(json_texts(comments=False), PLACES)
def test_an_addition_to_strict_json_is_read_by_a_strict_program(
    text: str, keys: tuple[str, ...]
) -> None:
    edited, edit = try_to_make(text, add("json", keys, ENTRY, append=False))

    value = json.loads(edited.removeprefix("\ufeff"))
    for key in keys:
        value = value[key]
    assert value == ENTRY
    assert take_back(edited, edit) == text


@given(toml_texts(), st.booleans(), st.sampled_from([ENTRY, {"matcher": "x"}]))
@example("", False, ENTRY)
@example('mcp_servers = { x = { command = "y" } }', False, ENTRY)
def test_an_addition_to_toml_is_taken_back_byte_for_byte(
    text: str, append: bool, value: object
) -> None:
    addition = add("toml", ("mcp_servers", "textrawl"), value, append=append)
    edited, edit = try_to_make(text, addition)

    assert is_made(edited, addition)
    assert take_back(edited, edit) == text


@given(json_texts(), PLACES)
def test_a_replaced_value_is_there_again_byte_for_byte(text: str, keys: tuple[str, ...]) -> None:
    before, _ = try_to_make(text, add("jsonc", keys, {"command": "old"}, append=False))
    edited, edit = make(before, add("jsonc", keys, ENTRY, append=False))

    assert take_back(edited, edit) == before


@pytest.mark.slow
@given(json_texts(), PLACES, st.booleans(), st.sampled_from([2, 4, None]))
def test_an_addition_is_taken_back_from_a_file_that_a_program_wrote_anew(
    text: str, keys: tuple[str, ...], append: bool, indent: int | None
) -> None:
    edited, edit = try_to_make(text, add("jsonc", keys, ENTRY, append=append))
    document = read("jsonc", edited)
    document["later"] = {"added": "by the program"}

    left = take_back(json.dumps(document, indent=indent), edit)

    assert read("jsonc", left) == read("jsonc", text) | {"later": document["later"]}


@pytest.mark.slow
@given(json_texts(), json_texts(), PLACES)
def test_edits_elsewhere_stay_when_an_addition_is_taken_back(
    text: str, comment: str, keys: tuple[str, ...]
) -> None:
    edited, edit = try_to_make(text, add("jsonc", keys, ENTRY, append=False))
    head = "".join(f"// {line}\n" for line in comment.removeprefix("\ufeff").split("\n"))
    changed = head.replace("\r", "") + edited.removeprefix("\ufeff")

    assert take_back(changed, edit) == head.replace("\r", "") + text.removeprefix("\ufeff")


@given(toml_texts())
def test_edits_elsewhere_in_toml_stay_when_an_addition_is_taken_back(text: str) -> None:
    edited, edit = try_to_make(text, add("toml", ("mcp_servers", "textrawl"), ENTRY, append=False))
    changed = edited + "\n[later]\nx = 1 # mine\n"

    left = take_back(changed, edit)

    assert read("toml", left) == read("toml", text) | {"later": {"x": 1}}
    assert left.endswith("\n[later]\nx = 1 # mine\n")


@given(toml_texts())
def test_keys_that_the_user_added_to_the_entry_go_with_it_and_not_elsewhere(text: str) -> None:
    keys = ("mcp_servers", "textrawl")
    edited, edit = try_to_make(text, add("toml", keys, ENTRY, append=False))
    mine = edited.removesuffix("\n").removesuffix("\r") + "\nMINE = 'x'\n"
    assume("[mcp_servers.textrawl.env]" in edited)

    assert read("toml", take_back(mine, edit)) == read("toml", text)


@pytest.mark.slow
@given(json_texts(), PLACES)
def test_an_entry_without_a_record_is_removed_by_its_key(text: str, keys: tuple[str, ...]) -> None:
    addition = add("jsonc", keys, ENTRY, append=False)
    edited, _ = try_to_make(text, addition)

    left = read("jsonc", take_back(edited, guess_edit(addition)))

    for key in keys[:-1]:
        left = left[key]
    assert keys[-1] not in left


@pytest.mark.parametrize(
    ("format_", "text", "reason"),
    [
        ("jsonc", '{"a" 1}', "line 1: ':' is missing before '1'"),
        ("jsonc", '{"a": 1}\n{', "line 2: nothing may follow the value"),
        ("jsonc", '{"a": NaN}', "line 1: 'NaN' is not JSON"),
        ("jsonc", '{"a": 1, "a": 2}', "line 1: the key 'a' occurs twice"),
        ("jsonc", '{"a": "\n"}', "line 1: unexpected '\"'"),
        ("jsonc", '{"mcpServers": []}', "line 1: the value of mcpServers is not an object"),
        ("jsonc", "[]", "is not an object"),
        ("jsonc", '{"a": [', "a value is missing before the end"),
        ("jsonc", "[" * 5000, "more than 200 levels"),
        ("json", '{"a": 1} // c', "line 1: this program reads JSON without comments"),
        ("json", '{"a": 1,}', "line 1: this program reads JSON without trailing commas"),
        ("toml", "a = ", "(at end of document)"),
        ("toml", "mcpServers = 1", "the value around textrawl is not an object"),
    ],
)
def test_a_text_that_is_not_understood_is_refused_with_the_reason(
    format_: FileFormat, text: str, reason: str
) -> None:
    with pytest.raises(NotUnderstood) as refused:
        make(text, add(format_, ("mcpServers", "textrawl"), ENTRY, append=False))

    assert reason in str(refused.value)


@given(json_texts(), toml_texts(), st.floats(0, 1))
def test_a_file_that_is_half_written_is_refused_or_keeps_what_is_there(
    json_text: str, toml_text: str, share: float
) -> None:
    documents: dict[FileFormat, str] = {"jsonc": json_text, "toml": toml_text}
    for format_, text in documents.items():
        half = text[: int(len(text) * share)]
        addition = add(format_, ("servers", "textrawl"), ENTRY, append=False)
        try:
            before = read(format_, half)
            edited, edit = make(half, addition)
        except NotUnderstood:
            continue

        assert read(format_, take_back(edited, edit)) == before
        assert {**read(format_, edited), "servers": 0} == {**before, "servers": 0}
