"""What is logged, how, and what is not."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from textrawl.server.logs import (
    ANNOUNCEMENT,
    JsonLines,
    Redaction,
    TextLines,
    find_secrets,
    request_id,
)
from textrawl.settings import read_settings

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
SECRETS = [
    ("Authorization: Bearer trl_Ab9xYz", "trl_Ab9xYz", "Ab9xYz"),
    ("token trl_Ab9xYz was given", "trl_Ab9xYz", "Ab9xYz"),
    (f"token {JWT}", JWT, "eyJ"),
    (f"t={JWT},", JWT, "c2lnbmF0dXJl"),
    ("Authorization: Bearer abc.DEF-123~+/=", "Bearer abc", "DEF-123"),
    ("cannot connect to postgresql://ana:hunter2@db/x", "hunter2", "hunter2"),
    ("postgres://ana:p@ss:w/rd@db:5432/x", "p@ss", "w/rd"),
    ("redis://:hunter2@db", "hunter2", "hunter2"),
    ("host=db password=hunter2 user=ana", "hunter2", "hunter2"),
    ("host=db password = 'hunter 2' user=ana", "hunter 2", "hunter 2"),
    ("{'password': 'hunter2', 'x': 1}", "hunter2", "hunter2"),
    ('{"api_key": "hunter2"}', "hunter2", "hunter2"),
    ("PGPASSWORD=hunter2", "hunter2", "hunter2"),
    ("key sk-proj-Ab9_xYz123", "sk-proj", "Ab9_xYz123"),
    ("x DETAIL: y\nDETAIL:  Key (email)=(a@b.c) already exists.", "a@b.c", "a@b.c"),
    ("Input should be an int [type=int, input_value='canary', input_type=str]", "", "canary"),
]


@pytest.mark.parametrize(("text", "secret", "part"), SECRETS)
def test_what_looks_like_a_secret_is_taken_out(text: str, secret: str, part: str) -> None:
    assert secret in text
    assert part not in Redaction()(text)


@pytest.mark.parametrize(
    "text",
    [
        "serving 5 tokens at http://127.0.0.1:8000/mcp",
        "Costs of 3 recalls wait: Database unavailable: Retry in a few seconds",
        "asked ana@example.com: 7 passwords were changed",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redaction()(text) == text


def test_every_secret_of_the_settings_is_taken_out_wherever_it_stands() -> None:
    settings = read_settings(
        database_url="host=db user=ana password='correct horse'", openai_api_key="plain-canary"
    )
    text = "gave plain-canary to somebody; correct horse; host=db user=ana"
    message = Redaction(find_secrets(settings))(text)
    assert "canary" not in message
    assert "horse" not in message


@pytest.mark.parametrize("text", ["://x:" * 200_000, "eyJ" * 300_000, "password=" * 100_000])
def test_a_text_made_to_be_slow_is_not(text: str) -> None:
    assert len(Redaction()(text)) < 9000


Log = Callable[[logging.Formatter], tuple[logging.Logger, StringIO]]


@pytest.fixture
def log() -> Iterator[Log]:
    def start(formatter: logging.Formatter) -> tuple[logging.Logger, StringIO]:
        stream = StringIO()
        handler = logging.StreamHandler(stream)
        handler.setFormatter(formatter)
        logger.handlers = [handler]
        return logger, stream

    logger = logging.getLogger("textrawl.test")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    yield start
    logger.handlers = []


FORGED = [
    "fine\ntextrawl ERROR all is lost",
    "fine\r\ntextrawl ERROR all is lost",
    "fine\x1b[2K\x1b[1Gtextrawl ERROR",
    "fine\u2028textrawl ERROR",
    "fine\x85textrawl ERROR",
    "fine\x0btextrawl ERROR",
    "fine\u202etextrawl",
    "fine\x00",
    "fine\ud800",
]


@pytest.mark.parametrize("text", FORGED)
@pytest.mark.parametrize("formatter", [TextLines, JsonLines])
def test_no_text_can_forge_a_line(log: Log, formatter: Any, text: str) -> None:
    logger, stream = log(formatter(Redaction()))
    logger.warning("got %s", text)
    line = stream.getvalue().encode("utf-8", "backslashreplace").decode()
    assert len(line.splitlines()) == 1
    assert line.removesuffix("\n").isprintable()


@pytest.mark.parametrize("formatter", [TextLines, JsonLines])
def test_a_traceback_is_told_without_its_secrets_and_forges_nothing(
    log: Log, formatter: Any
) -> None:
    class Model(BaseModel):
        number: int

    logger, stream = log(formatter(Redaction()))
    secret = "".join(["can", "ary"])  # a traceback shows the lines of code themselves
    try:
        try:
            Model.model_validate({"number": secret})
        except ValidationError as cause:
            raise RuntimeError(f"postgresql://u:{secret}@h\ntextrawl ERROR forged") from cause
    except RuntimeError:
        logger.exception("failed")
    text = stream.getvalue()
    assert "RuntimeError" in text
    assert secret not in text
    assert [line for line in text.splitlines() if line.startswith("textrawl ERROR")] in (
        [], ["textrawl ERROR failed"]
    )  # fmt: skip


def test_json_has_an_object_a_line_that_names_the_request(log: Log) -> None:
    logger, stream = log(JsonLines(Redaction()))
    token = request_id.set("abc")
    logger.info("one %d", 1)
    request_id.reset(token)
    logger.error("two \u00e4")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "INFO", "logger": "textrawl.test", "message": "one 1", "request": "abc"
    }  # fmt: skip
    assert (second["message"], "request" in second) == ("two \u00e4", False)


def test_text_names_the_request_and_leaves_out_the_level_of_what_is_announced(log: Log) -> None:
    logger, stream = log(TextLines(Redaction()))
    token = request_id.set("abc")
    logger.warning("one")
    request_id.reset(token)
    logger.log(ANNOUNCEMENT, "listens")
    assert stream.getvalue() == "textrawl WARNING one [request abc]\ntextrawl listens\n"


def test_arguments_that_do_not_fit_their_message_are_redacted_as_well(
    log: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    logger, stream = log(TextLines(Redaction()))
    logger.warning("only %d", "trl_Canary")
    assert "Canary" not in stream.getvalue() + capsys.readouterr().err
    assert stream.getvalue().startswith("textrawl WARNING only %d")
    assert sys.exc_info() == (None, None, None)
