"""`textrawl settings`, the file that is made with it, and settings that cannot be used."""

import json
import logging
from pathlib import Path

import pytest

from tests.commands.conftest import Run
from textrawl.settings import Settings, read_foreign_environment, read_settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"


def test_the_example_is_what_the_command_prints(run: Run) -> None:
    outcome = run("settings", "--example")

    assert outcome.code == 0
    assert outcome.out == EXAMPLE.read_text(encoding="utf-8")


def test_the_example_names_every_setting_once(run: Run) -> None:
    names = [
        line[2:].partition("=")[0]
        for line in run("settings", "--example").out.splitlines()
        if line[2:].partition("=")[0].isupper() and "=" in line
    ]

    assert names == [name.upper() for name in Settings.model_fields]


def test_the_example_uncommented_changes_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [
        line
        for line in run("settings", "--example").out.splitlines()
        if "=" in line and line[2:3].isupper()
    ]
    as_they_are = read_settings()
    (tmp_path / ".env").write_text("\n".join(line[2:] for line in lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert read_settings() == as_they_are


def test_the_environment_for_others_has_none_of_our_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://localhost/mine")
    monkeypatch.setenv("openai_api_key", "secret")
    monkeypatch.setenv("SOMETHING_ELSE", "stays")

    environment = read_foreign_environment()

    assert environment["SOMETHING_ELSE"] == "stays"
    assert {"DATABASE_URL", "openai_api_key"} & environment.keys() == set()


def test_the_settings_in_force_say_where_they_come_from(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SPACE=team\nRATE_LIMIT=9\nREAD_ONLY=\n", encoding="utf-8")

    rows = json.loads(run("settings", "--json", RATE_LIMIT=5, COMPACT_RESPONSES="lines").out)
    piped = run("settings", RATE_LIMIT=5).out.splitlines()

    shown = {row["name"]: (row["value"], row["source"]) for row in rows}
    assert list(shown) == [name.upper() for name in Settings.model_fields]
    assert shown["SPACE"] == ("team", ".env")
    assert shown["RATE_LIMIT"] == ("5", "environment")
    assert shown["COMPACT_RESPONSES"] == ("lines", "environment")
    assert shown["READ_ONLY"] == ("false", "default")
    assert "RATE_LIMIT\t5\tenvironment" in piped


SECRETS = {
    "DATABASE_URL": "postgresql://ben:s3cret@db.example.com:5433/memory?sslpassword=s3cret",
    "ACCESS_TOKEN": "trl_s3cret",
    "OPENAI_API_KEY": "sk-s3cret",
    "OPENAI_BASE_URL": "https://me:s3cret@proxy.example.com/v1",
}


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_secrets_are_not_shown(run: Run, arguments: tuple[str, ...]) -> None:
    outcome = run("settings", *arguments, **SECRETS)
    unreadable = run("settings", *arguments, DATABASE_URL="postgresql://me:100%s3cret@h/d")

    assert outcome.code == 0
    assert "s3cret" not in outcome.out + unreadable.out
    assert "user=ben host=db.example.com port=5433 dbname=memory" in outcome.out
    assert "https://***@proxy.example.com/v1" in outcome.out
    assert outcome.out.count("(set, not shown)") == 2


@pytest.mark.parametrize(
    ("name", "value", "choice"),
    [
        ("ENABLE_MEMORY", "perhaps", "true or false"),
        ("READ_ONLY", "2", "true or false"),
        ("COMPACT_RESPONSES", "short", "true, false or lines"),
        ("STRUCTURED_CONTENT", "no way", "full or off"),
        ("MAX_RESPONSE_TOKENS", "many", "a whole number from 50 to 25,000"),
        ("MAX_RESPONSE_TOKENS", "49", "a whole number from 50 to 25,000"),
        ("MAX_RESPONSE_TOKENS", "99.5", "a whole number from 50 to 25,000"),
        ("TOKENIZER", "gpt2", "o200k_base or cl100k_base"),
        ("RECORD_RECALLS", "all", "hash, text or off"),
        ("DATABASE_TIMEOUT", "0", "a number above 0, at most 600"),
        ("DATABASE_TIMEOUT", "nan", "a number above 0, at most 600"),
        ("EMBEDDING_PROVIDER", "bedrock", "auto, openai, ollama, local or none"),
        ("EMBEDDING_TIMEOUT", "5s", "a number above 0, at most 120"),
        ("HTTP_PORT", "http", "a whole number from 0 to 65,535"),
        ("RATE_LIMIT", "-1", "a whole number from 0 up"),
        ("PUBLIC_URL", "memory.example.com/mcp",
         "an address such as https://memory.example.com, without a path"),
        ("LOG_LEVEL", "LOUD", "DEBUG, INFO, WARNING or ERROR"),
        ("LOG_FORMAT", "xml", "text or json"),
        ("DATA_DIR", "~no-such-user/data", "a folder, named in UTF-8; ~ is your own home only"),
        ("IMPORT_DIR", "~no-such-user/in", "a folder, named in UTF-8; ~ is your own home only"),
        ("ACCESS_TOKEN", "trl_\udcff", "text in UTF-8 that is not empty"),
        ("DATABASE_URL", "postgresql://a:b\udcff@h/d", "text in UTF-8 that is not empty"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_one_line_that_says_what_it_may_be(
    run: Run, name: str, value: str, choice: str
) -> None:
    complaint = run("settings", **{name: value}).complaint

    assert complaint == f"Settings cannot be used: {name} must be {choice}"


def test_all_wrong_settings_are_named_at_once(run: Run) -> None:
    complaint = run("settings", READ_ONLY="2", HTTP_PORT="x", LOG_FORMAT="y").complaint

    assert [name for name in ("READ_ONLY", "HTTP_PORT", "LOG_FORMAT") if name in complaint] == [
        "READ_ONLY", "HTTP_PORT", "LOG_FORMAT",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("SPACE=team\nACCESS_TOKEN=caf\xe9\n".encode("latin-1"), "is not UTF-8 (line 2)"),
        ("SPACE=team\n".encode("utf-16"), "is not UTF-8 (line 1)"),
        ("SPACE=team\n".encode("utf-16-le"), "is not UTF-8 but UTF-16"),
    ],
)
@pytest.mark.parametrize("command", ["settings", "search tea", "serve"])
def test_a_file_that_is_not_utf_8_is_one_line(
    run: Run, tmp_path: Path, command: str, content: bytes, fault: str
) -> None:
    (tmp_path / ".env").write_bytes(content)

    outcome = run(*command.split())

    assert outcome.code == 1
    assert outcome.complaint == f"{tmp_path / '.env'} {fault}: save it as UTF-8"


def test_a_mark_at_the_beginning_of_the_file_is_no_part_of_a_name(
    tmp_path: Path,
) -> None:
    (tmp_path / ".env").write_text("SPACE=team\n", encoding="utf-8-sig")

    assert read_settings().space == "team"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("DATABSE_URL", "DATABASE_URL"),
        ("DATABASE_URI", "DATABASE_URL"),
        ("EMBEDING_PROVIDER", "EMBEDDING_PROVIDER"),
        ("EMBEDDINGS_PROVIDR", "EMBEDDING_PROVIDER"),
        ("ACESS_TOKEN", "ACCESS_TOKEN"),
        ("enable_memroy", "ENABLE_MEMORY"),
        ("TOOLSET", "TOOLSETS"),
        ("TEXTRAWL_DATA_DIR", "DATA_DIR"),
        ("TEXTRAWL_SPACE", "SPACE"),
    ],
)
@pytest.mark.parametrize("place", [".env", "the environment"])
def test_a_name_that_is_nearly_a_setting_is_a_warning_without_its_value(
    run: Run, tmp_path: Path, place: str, name: str, meant: str
) -> None:
    if place == ".env":
        (tmp_path / ".env").write_text(f"{name}=s3cret\n", encoding="utf-8")
        outcome, shown = run("settings"), name.upper()
    else:
        outcome, shown = run("settings", **{name: "s3cret"}), name

    assert outcome.code == 0
    assert outcome.err == f"textrawl: {shown} in {place} is no setting: did you mean {meant}?\n"


@pytest.mark.parametrize(
    "name",
    [
        "HTTP_PROXY", "HTTPS_PROXY", "LOG_DIR", "SPACES", "PLACE", "DATABASE", "DATABASE_HOST",
        "OPENAI_API_BASE", "OPENAI_ORG_ID", "OLLAMA_HOST", "OLLAMA_MODELS", "XDG_DATA_DIRS",
        "TEXTRAWL_OWNER_PASSWORD", "TEXTRAWL_APP_PASSWORD", "RATE", "HOST", "PORT",
    ],
)  # fmt: skip
def test_names_of_other_programs_are_no_news(run: Run, name: str) -> None:
    assert run("settings", **{name: "1"}).err == ""


def test_a_line_of_env_that_is_no_assignment_is_named_once_with_what_to_write(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text('READ_ONLY=true\nSPACE="team\n', encoding="utf-8")

    outcome = run("settings")

    assert outcome.code == 0
    assert outcome.err == (
        f"textrawl: Line 2 of {file} is left out: write NAME=value, and close every quote\n"
    )


def test_a_near_name_is_no_news_beside_the_right_one(run: Run) -> None:
    assert run("settings", DATABASE_URI="x", DATABASE_URL="postgresql://h/d").err == ""


def test_a_server_logs_a_name_that_is_nearly_a_setting(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        run("serve", "--http", DATABSE_URL="x", DATABASE_TIMEOUT=1, HTTP_HOST="192.0.2.1")

    assert "DATABSE_URL in the environment is no setting: did you mean DATABASE_URL?" in caplog.text
