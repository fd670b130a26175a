"""`textrawl settings`, and the file that is made with it."""

from pathlib import Path

import pytest

from tests.commands.conftest import Run
from textrawl.settings import Settings, read_foreign_environment, read_settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"


def test_the_example_is_what_the_command_prints(run: Run) -> None:
    outcome = run("settings")

    assert outcome.code == 0
    assert outcome.out == EXAMPLE.read_text(encoding="utf-8")


def test_the_example_names_every_setting_once(run: Run) -> None:
    names = [
        line[2:].partition("=")[0]
        for line in run("settings").out.splitlines()
        if line[2:].partition("=")[0].isupper() and "=" in line
    ]

    assert names == [name.upper() for name in Settings.model_fields]


def test_the_example_uncommented_changes_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [
        line for line in run("settings").out.splitlines() if "=" in line and line[2:3].isupper()
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
