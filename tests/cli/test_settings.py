"""`textrawl settings`, the file that is made with it, and settings that cannot be used."""

import json
import logging
from pathlib import Path

import pytest

from tests.support.commands import Run
from tests.support.folders import write_env
from textrawl.environment import find_user_file
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

    assert names == [f"TEXTRAWL_{name.upper()}" for name in Settings.model_fields]


def test_the_example_uncommented_changes_nothing(run: Run) -> None:
    lines = [
        line
        for line in run("settings", "--example").out.splitlines()
        if "=" in line and line[2:3].isupper()
    ]
    as_they_are = read_settings()
    write_env("\n".join(line[2:] for line in lines), trusted=True)

    assert read_settings() == as_they_are


def test_the_vault_of_cortexgraph_is_the_vault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LTM_VAULT_PATH", str(tmp_path))
    assert read_settings().vault == tmp_path
    monkeypatch.setenv("TEXTRAWL_VAULT", str(tmp_path / "other"))
    assert read_settings().vault == tmp_path / "other"


def test_the_environment_for_others_has_none_of_our_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://localhost/mine")
    monkeypatch.setenv("openai_api_key", "secret")
    monkeypatch.setenv("TEXTRAWL_SPACE", "team")
    monkeypatch.setenv("SOMETHING_ELSE", "stays")

    environment = read_foreign_environment()

    assert environment["SOMETHING_ELSE"] == "stays"
    assert {"DATABASE_URL", "openai_api_key", "TEXTRAWL_SPACE"} & environment.keys() == set()


def test_the_settings_in_force_say_where_they_come_from(run: Run) -> None:
    lines = "TEXTRAWL_SPACE=team\nTEXTRAWL_RATE_LIMIT=9\nTEXTRAWL_READ_ONLY=\n"
    file = write_env(lines, trusted=True)
    environment = {"TEXTRAWL_RATE_LIMIT": 5, "COMPACT_RESPONSES": "lines"}

    rows = json.loads(run("settings", "--json", **environment).out)
    piped = run("settings", **environment).out.splitlines()

    shown = {row["name"]: (row["value"], row["source"]) for row in rows}
    assert list(shown) == [f"TEXTRAWL_{name.upper()}" for name in Settings.model_fields]
    assert shown["TEXTRAWL_SPACE"] == ("team", str(file))
    assert shown["TEXTRAWL_RATE_LIMIT"] == ("5", "environment")
    assert shown["TEXTRAWL_COMPACT_RESPONSES"] == ("lines", "environment, as COMPACT_RESPONSES")
    assert shown["TEXTRAWL_READ_ONLY"] == ("false", "default")
    assert "TEXTRAWL_RATE_LIMIT\t5\tenvironment" in piped


def write_user_file(text: str) -> Path:
    file = find_user_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("sources", range(1, 6))
def test_the_sources_of_a_setting_have_an_order(run: Run, tmp_path: Path, sources: int) -> None:
    """The first of five is there alone, then the first two, ..."""
    named = tmp_path / "named.env"
    named.write_text("HTTP_PORT=3\n" if sources > 2 else "", encoding="utf-8")
    write_env("TEXTRAWL_HTTP_PORT=2\n" if sources > 1 else "", trusted=True)
    user = write_user_file("HTTP_PORT=1\n")
    bare = {"HTTP_PORT": 4} if sources > 3 else {}
    prefixed = {"TEXTRAWL_HTTP_PORT": 5} if sources > 4 else {}

    rows = json.loads(run("--env-file", str(named), "settings", "--json", **bare, **prefixed).out)

    [row] = [row for row in rows if row["name"] == "TEXTRAWL_HTTP_PORT"]
    origins = [
        f"{user}, as HTTP_PORT", str(tmp_path / ".env"), f"{named}, as HTTP_PORT",
        "environment, as HTTP_PORT", "environment",
    ]  # fmt: skip
    assert (row["value"], row["source"]) == (str(sources), origins[sources - 1])


def test_a_prefixed_name_comes_before_a_bare_one_in_a_file_too(run: Run) -> None:
    write_user_file("TEXTRAWL_SPACE=ours\nSPACE=theirs\n")

    assert read_settings().space == "ours"


def test_a_value_that_cannot_be_used_is_named_as_it_was_written(run: Run) -> None:
    write_env("TEXTRAWL_HTTP_PORT=x\n", trusted=True)

    assert run("settings").complaint.startswith("Settings cannot be used: TEXTRAWL_HTTP_PORT must")
    assert run("settings", HTTP_PORT="y").complaint.startswith(
        "Settings cannot be used: HTTP_PORT must"
    )


@pytest.mark.parametrize("words", [
    ["--env-file", "FILE", "settings"], ["settings", "--env-file", "FILE"],
    ["settings", "--env-file=FILE"], ["--env-file=other", "settings", "--env-file=FILE"],
])  # fmt: skip
def test_the_file_of_an_option_may_have_any_name_and_stand_anywhere(
    run: Run, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "other").write_text("SPACE=other\n", encoding="utf-8")
    (tmp_path / "team settings").write_text("SPACE=team\n", encoding="utf-8")

    outcome = run(*(word.replace("FILE", "team settings") for word in words))

    assert "TEXTRAWL_SPACE\tteam\tteam settings, as SPACE" in outcome.out.splitlines()


def test_a_file_that_the_option_names_has_to_be_there(run: Run, tmp_path: Path) -> None:
    outcome = run("--env-file", "absent", "settings")
    unnamed = run("settings", "--env-file")

    assert outcome.code == 1
    assert outcome.complaint == f"{tmp_path / 'absent'} cannot be read: No such file or directory"
    assert unnamed.code == 2
    assert unnamed.complaint.startswith("Option '--env-file' requires an argument.")


def test_the_file_of_one_command_is_not_that_of_the_next(run: Run, tmp_path: Path) -> None:
    (tmp_path / "named").write_text("SPACE=team\n", encoding="utf-8")

    assert "TEXTRAWL_SPACE\tteam" in run("--env-file", "named", "settings").out
    assert "TEXTRAWL_SPACE\t\tdefault" in run("settings").out


def test_a_home_without_access_is_one_without_a_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ("x" * 300)))  # as no access: an OSError

    assert run("settings").code == 0


DROPPED = {
    "TOKENIZER": "tokens are counted in o200k_base",
    "OAUTH_AUDIENCE": "tokens of the identity provider are for TEXTRAWL_PUBLIC_URL with /mcp",
    "IMPORT_DIR": "the graph toolset's `migrate` reads the folder `import` in TEXTRAWL_DATA_DIR",
    "EMBEDDING_TIMEOUT": "an embedding provider has 5 seconds to answer",
}


@pytest.mark.parametrize("place", ["environment", "file"])
def test_a_setting_that_was_dropped_is_a_warning_that_says_what_holds(run: Run, place: str) -> None:
    names = {f"{prefix}{name}": DROPPED[name] for prefix in ("", "TEXTRAWL_") for name in DROPPED}
    if place == "file":
        shown = str(write_user_file("".join(f"{name}=x\n" for name in names)))
        outcome = run("settings")
    else:
        shown = "the environment"
        outcome = run("settings", **dict.fromkeys(names, "x"))

    assert outcome.code == 0
    assert sorted(outcome.err.splitlines()) == sorted(
        f"textrawl: {name} in {shown} is no longer a setting: {reason}"
        for name, reason in names.items()
    )


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
        ("RECORD_RECALLS", "all", "hash, text or off"),
        ("DATABASE_TIMEOUT", "0", "a number above 0, at most 600"),
        ("DATABASE_TIMEOUT", "nan", "a number above 0, at most 600"),
        ("EMBEDDING_PROVIDER", "bedrock", "auto, encoder, local, openai, ollama or none"),
        ("HTTP_PORT", "http", "a whole number from 0 to 65,535"),
        ("RATE_LIMIT", "-1", "a whole number from 0 up"),
        ("PUBLIC_URL", "memory.example.com/mcp",
         "an address such as https://memory.example.com, without a path"),
        ("LOG_LEVEL", "LOUD", "DEBUG, INFO, WARNING or ERROR"),
        ("LOG_FORMAT", "xml", "text or json"),
        ("DATA_DIR", "~no-such-user/data",
         "a folder with a name in UTF-8; ~ stands for your home folder"),
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
        ("TEXTRAWL_SPACE=a\nACCESS_TOKEN=caf\xe9\n".encode("latin-1"), "is not UTF-8 (line 2)"),
        ("TEXTRAWL_SPACE=team\n".encode("utf-16"), "is not UTF-8 (line 1)"),
        ("TEXTRAWL_SPACE=team\n".encode("utf-16-le"), "is not UTF-8 but UTF-16"),
    ],
)
@pytest.mark.parametrize("command", ["settings", "search tea", "serve"])
def test_a_trusted_file_that_is_not_utf_8_is_one_line(
    run: Run, tmp_path: Path, command: str, content: bytes, fault: str
) -> None:
    write_env(content, trusted=True)

    outcome = run(*command.split())

    assert outcome.code == 1
    assert outcome.complaint == f"{tmp_path / '.env'} {fault}: save it as UTF-8"


def test_the_encoding_of_a_file_that_does_not_name_us_is_no_concern_of_ours(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_bytes("NAME=caf\xe9\n".encode("latin-1"))

    assert run("settings").err == ""


def test_a_mark_at_the_beginning_of_the_file_is_no_part_of_a_name() -> None:
    write_env("TEXTRAWL_SPACE=team\n".encode("utf-8-sig"), trusted=True)

    assert read_settings().space == "team"


@pytest.mark.parametrize("place", [".env", "the environment"])
def test_a_name_that_is_nearly_a_setting_is_a_warning_without_its_value(
    run: Run, place: str
) -> None:
    names = {
        "DATABSE_URL": "DATABASE_URL",
        "DATABASE_URI": "DATABASE_URL",
        "EMBEDING_PROVIDER": "EMBEDDING_PROVIDER",
        "EMBEDDINGS_PROVIDR": "EMBEDDING_PROVIDER",
        "ACESS_TOKEN": "ACCESS_TOKEN",
        "enable_memroy": "ENABLE_MEMORY",
        "TOOLSET": "TOOLSETS",
        "TEXTRAWL_DATADIR": "DATA_DIR",
        "textrawl_spaec": "SPACE",
    }
    if place == ".env":
        place = str(write_user_file("".join(f"{name}=s3cret\n" for name in names)))
        outcome = run("settings")
    else:
        outcome = run("settings", **dict.fromkeys(names, "s3cret"))

    assert outcome.code == 0
    assert sorted(outcome.err.splitlines()) == sorted(
        f"textrawl: {name.upper()} in {place} is not a setting: did you mean TEXTRAWL_{meant}?"
        for name, meant in names.items()
    )


def test_names_that_another_program_keeps_in_a_folder_are_no_news(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "DATABASE_URI=x\nTOKENIZER=x\nTOOLSET=x\nTEXTRAWL_SPAEC=x\nno assignment\n", "utf-8"
    )

    assert run("settings").err == (
        f"textrawl: TEXTRAWL_SPAEC in {tmp_path / '.env'} is not a setting: "
        "did you mean TEXTRAWL_SPACE?\n"
    )


def test_names_of_other_programs_are_no_news(run: Run) -> None:
    names = [
        "HTTP_PROXY", "HTTPS_PROXY", "LOG_DIR", "SPACES", "PLACE", "DATABASE", "DATABASE_HOST",
        "OPENAI_API_BASE", "OPENAI_ORG_ID", "OLLAMA_HOST", "OLLAMA_MODELS", "XDG_DATA_DIRS",
        "TEXTRAWL_OWNER_PASSWORD", "TEXTRAWL_APP_PASSWORD", "RATE", "HOST", "PORT",
    ]  # fmt: skip
    assert run("settings", **dict.fromkeys(names, "1")).err == ""


def test_a_line_of_env_that_is_no_assignment_is_named_once_with_what_to_write(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text('READ_ONLY=true\nTEXTRAWL_SPACE="team\n', encoding="utf-8")

    outcome = run("settings")

    assert outcome.code == 0
    assert outcome.err == (
        f"textrawl: Line 2 of {file} is ignored: write NAME=value, and close every quote\n"
    )


def test_a_near_name_is_no_news_beside_the_right_one(run: Run) -> None:
    assert run("settings", DATABASE_URI="x", DATABASE_URL="postgresql://h/d").err == ""


def test_a_server_logs_a_name_that_is_nearly_a_setting(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        run("serve", "--http", DATABSE_URL="x", DATABASE_TIMEOUT=1, HTTP_HOST="192.0.2.1")

    assert (
        "DATABSE_URL in the environment is not a setting: did you mean TEXTRAWL_DATABASE_URL?"
        in caplog.text
    )
