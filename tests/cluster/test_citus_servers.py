"""A PostgreSQL with Citus is found by its pg_config."""

from pathlib import Path

import pytest

from tests.support.citus_servers import find_pg_config


def make_installation(folder: Path, *extensions: str) -> Path:
    """A pg_config of an installation with these extensions."""
    (folder / "share/extension").mkdir(parents=True)
    for name in extensions:
        (folder / f"share/extension/{name}.control").touch()
    program = folder / "pg_config"
    program.write_text(f"#!/bin/sh\necho '{folder}/share'\n", "ascii")
    program.chmod(0o755)
    return program


def test_the_pg_config_on_the_path_is_used_only_if_it_has_citus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = make_installation(tmp_path / "plain", "vector")
    citus = make_installation(tmp_path / "citus", "vector", "citus")
    found: list[Path | None] = []
    for folder in (plain.parent, citus.parent):
        monkeypatch.setenv("PATH", f"{folder}:/bin")
        found.append(find_pg_config())

    assert found == [None, citus]


def test_a_given_pg_config_without_citus_is_refused(tmp_path: Path) -> None:
    plain = make_installation(tmp_path / "plain", "vector")

    assert find_pg_config(str(make_installation(tmp_path / "citus", "citus"))) is not None
    with pytest.raises(FileNotFoundError, match="not the pg_config of a PostgreSQL with Citus"):
        find_pg_config(str(plain))
