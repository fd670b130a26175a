"""The file with what a host says about itself, for the next start."""

import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import anyio
import pytest

from textrawl import Settings, create_server, read_settings
from textrawl.environment import SESSION_SETTINGS, ValueSource, read_sources
from textrawl.host import description_file, entrance
from textrawl.host.description_file import (
    LISTS,
    PACKAGED,
    DescriptionFile,
    format_answers,
    name_description,
    read_packaged,
)
from textrawl.host.entrance import find_entrance
from textrawl.server.sessions import describe

pytestmark = pytest.mark.anyio

UPDATES = os.environ.get("UPDATE_SNAPSHOTS")


def open_file(folder: Path) -> DescriptionFile:
    return DescriptionFile(folder / "resident" / "some.described")


async def test_the_package_carries_what_a_server_with_the_default_settings_says(
    tmp_path: Path,
) -> None:
    """`UPDATE_SNAPSHOTS=1` writes the file. Only the list of resources depends on the memory."""
    server = create_server(read_settings(data_dir=tmp_path, database_url="postgresql://x@x:9/x"))
    answers = await describe(server) | {"resources/list": {}}
    if UPDATES:
        await anyio.Path(PACKAGED).write_bytes(format_answers(answers))

    assert read_packaged() == answers
    assert len(answers["initialize"]) == 4
    assert all(len(answers[method]) == 5 for method in LISTS if method != "resources/list")


def test_the_packages_file_is_for_the_default_settings_alone() -> None:
    assert find_entrance([]).read_description() == read_packaged()
    for name in ("toolsets", "read_only", "enable_memory", "resources", "access_token", "space"):
        entrance = find_entrance([ValueSource("environment", {name.upper(): "x"})])
        assert entrance.read_description() == {}, name


def test_no_other_setting_shapes_what_the_package_says(tmp_path: Path) -> None:
    def build(**changes: Any) -> object:
        server = create_server(read_settings(data_dir=tmp_path, toolsets=["all"], **changes))
        lists = (server.list_tools, server.list_prompts, server.list_resource_templates)
        described = server._description  # pyright: ignore[reportPrivateUsage]
        return [anyio.run(each) for each in lists], described

    others: dict[str, object] = {}
    for name, field in Settings.model_fields.items():
        if field.annotation is bool:
            others[name] = not field.default
        elif get_origin(field.annotation) is Literal:
            others[name] = next(one for one in get_args(field.annotation) if one != field.default)
    offering = entrance._OFFERING  # pyright: ignore[reportPrivateUsage]
    changed = {name: other for name, other in others.items() if name not in offering}

    assert len(changed) > 8
    assert build(**changed) == build()


def test_the_file_is_another_one_for_other_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> Path:
        address, settings, token, _ = find_entrance(read_sources())
        return name_description(address, settings, token)

    usual = find()
    for name in ("HOST_IDLE", "RATE_LIMIT"):
        monkeypatch.setenv(name, "7")
    assert find() == usual
    seen = {usual}
    names = (
        *SESSION_SETTINGS,
        "read_only",
        "llm_provider",
        "data_dir",
        "database_url",
        "access_token",
    )
    for name in names:
        monkeypatch.setenv(f"TEXTRAWL_{name.upper()}", "x")
        seen.add(find())
    packages = description_file._list_packages()  # pyright: ignore[reportPrivateUsage]
    for name in ("mcp", "pydantic", "pydantic_core", "mcp_types"):
        assert f"{name}-{version(name)}.dist-info" in packages
    code = [*description_file._list_code()]  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(description_file, "_list_code", lambda: [(n, t + 1, s) for n, t, s in code])
    seen.add(find())

    assert len(seen) == len(names) + 2
    assert len([name for name, _, _ in code if name.endswith((".py", ".txt"))]) > 300


def test_a_damaged_or_foreign_file_is_ignored_and_replaced(tmp_path: Path) -> None:
    answers = {"tools/list": {"2025-11-25": b"{}", "2025-06-18": b"{}"}, "prompts/list": {}}
    open_file(tmp_path).write(answers)
    [file] = (tmp_path / "resident").iterdir()
    good = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    assert open_file(tmp_path).answers == answers

    def link() -> None:
        (tmp_path / "other").write_bytes(good)
        (tmp_path / "other").chmod(0o600)
        file.unlink()
        file.symlink_to(tmp_path / "other")

    spoilings: list[Callable[[], object]] = [
        lambda: file.write_bytes(good[:-1]), lambda: file.write_bytes(b""),
        lambda: file.write_bytes(good.replace(b"{}", b"[]")), lambda: file.chmod(0o640),
        lambda: file.parent.chmod(0o755), link, file.unlink,
        lambda: (file.unlink(), os.mkfifo(file, 0o600)),
    ]  # fmt: skip
    for spoil in spoilings:
        spoil()
        spoiled = open_file(tmp_path)
        assert not spoiled.answers
        file.parent.chmod(0o700)
        spoiled.write(answers)
        assert open_file(tmp_path).answers == answers
        assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_the_files_that_were_not_used_for_longest_are_deleted(tmp_path: Path) -> None:
    for number in range(20):
        path = tmp_path / "resident" / f"{number}.described"
        DescriptionFile(path).write({"tools/list": {}})
        os.utime(path, (number, number))
        assert DescriptionFile(tmp_path / "resident" / "0.described").answers

    left = {path.stem for path in (tmp_path / "resident").iterdir()}
    assert left == {"0", *map(str, range(5, 20))}
