"""The quick parser of `recall` and `digest`, compared with the commands themselves."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from textrawl.cli import quick
from textrawl.cli.application import build_app
from textrawl.client.arguments import DigestArguments, SearchArguments, check
from textrawl.resident.client import SocketAnswer

MODELS = {"recall": SearchArguments, "digest": DigestArguments}
WORDS = st.one_of(
    st.sampled_from(
        ["--json", "--limit", "-n", "5", "0", "51", "٣", "--limit=7", "--limit=", "--max-tokens",
         "--max-tokens=200", "200", "49", "--space", "team", "--space=a b", "--project", "web",
         "--project=-x", "-", "--", "-h", "--json=1", "--lim", "tea?", "", " ", "a  b", "\udc80"]
    ),
    st.text(max_size=5),
)  # fmt: skip


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """No memory, for none is opened here."""
    return tmp_path


@pytest.fixture(autouse=True)
def _question_on_stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"who likes tea?")))
    quick.read_stdin.cache_clear()
    yield
    quick.read_stdin.cache_clear()


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The requests that the commands make."""
    made: list[dict[str, Any]] = []

    def note(request: dict[str, Any]) -> SocketAnswer:
        made.append(request)
        return SocketAnswer("", [], 0, {})

    def show(_: SocketAnswer, *, as_json: bool) -> None:
        made[-1]["as_json"] = as_json

    monkeypatch.setattr("textrawl.cli.commands.recall.find_answer", note)
    monkeypatch.setattr("textrawl.cli.commands.recall.show", show)
    return made


def run_command(words: Sequence[str]) -> None:
    build_app(words[0])(list(words), prog_name="textrawl", standalone_mode=False)


@given(command=st.sampled_from([*MODELS]), words=st.lists(WORDS, max_size=6))
def check_both(requests: list[dict[str, Any]], command: str, words: list[str]) -> None:
    parsed = quick.parse([command, *words])
    requests.clear()

    if parsed is not None:
        request, as_json = parsed
        try:
            run_command([command, *words])
        except typer.TyperException:
            # Only the rule for an empty text needs the cleaning of names, and the server has it.
            assert command == "recall"
            assert not requests
        else:
            [other] = requests
            ours, theirs = request["params"], other["params"]
            model = MODELS[command]
            assert check(model, ours["arguments"]) == check(model, theirs["arguments"])
            assert ours["_meta"] == theirs["_meta"]
            assert as_json == other["as_json"]


def test_the_quick_parser_makes_the_request_of_the_command_or_none(
    requests: list[dict[str, Any]],
) -> None:
    check_both(requests)  # pyright: ignore[reportCallIssue] - hypothesis gives the other arguments


PLAIN = [
    ["recall", "who", "likes", "tea?"],
    ["recall", "--json", "tea", "--limit=2", "--max-tokens", "100", "--space", "team"],
    ["recall", "-"],
    ["recall"],
    ["digest"],
    ["digest", "--project", "web shop", "--json"],
]


def test_the_quick_parser_understands_the_plain_forms_and_leaves_others_to_the_command() -> None:
    others = ("--help", "-h", "--unknown", "-n", "--limit", "--space", "--")

    assert [words for words in PLAIN if quick.parse(words) is None] == []
    assert [word for word in others if quick.parse(["recall", "tea", word]) is not None] == []
