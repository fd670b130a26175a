"""Build the MCPB bundle, which a desktop client installs with one click.

    .venv/bin/python deploy/mcpb/build.py OUTPUT_FOLDER

The bundle has the sources of textrawl. The client runs them with uv, which installs what they need.
Two builds of the same sources are equal byte for byte, because the files have a fixed time.
"""

import argparse
import json
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from textrawl import __version__
from textrawl.tools.catalogue import choose_tools

ROOT = Path(__file__).parents[2]
ENTRY = "server/main.py"
REPOSITORY = "https://github.com/textrawl/textrawl"

_FILES = ("pyproject.toml", "README.md", "LICENSE")
_TIME = (2026, 1, 1, 0, 0, 0)


def describe_bundle() -> dict[str, Any]:
    """Return the manifest, of the version 0.4 of its specification."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "textrawl",
        "version": __version__,
        "description": project["description"],
        "author": {"name": project["authors"][0]["name"], "url": REPOSITORY},
        "repository": {"type": "git", "url": REPOSITORY},
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {"type": "uv", "entry_point": ENTRY, "mcp_config": _describe_command()},
        "tools": [
            {"name": name, "description": (spec.function.__doc__ or "").partition("\n")[0]}
            for name, spec in choose_tools(["memory"]).items()
            if spec.refuse is None
        ],
        "compatibility": {
            "platforms": ["darwin", "linux"],
            "runtimes": {"python": project["requires-python"]},
        },
        "user_config": _describe_settings(),
    }


def _describe_command() -> dict[str, Any]:
    return {
        "command": "uv",
        "args": ["run", "--quiet", "--directory", "${__dirname}", ENTRY],
        "env": {
            "TEXTRAWL_DATABASE_URL": "${user_config.database_url}",
            "TEXTRAWL_ACCESS_TOKEN": "${user_config.access_token}",
        },
    }


def _describe_settings() -> dict[str, Any]:
    """Return the settings that the client asks for. Without a default, it would not replace them.

    textrawl ignores empty values.
    """
    optional = {"type": "string", "sensitive": True, "required": False, "default": ""}
    return {
        "database_url": {
            **optional,
            "title": "Address of your own Postgres",
            "description": "Leave it empty, and textrawl starts the Postgres that it brings.",
        },
        "access_token": {
            **optional,
            "title": "Access token",
            "description": "A token of textrawl (trl_…), for a Postgres that a team shares.",
        },
    }


def build_bundle(folder: Path) -> Path:
    """Write the bundle into `folder`, which is created if it is missing, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle = folder / f"textrawl-{__version__}.mcpb"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_list_content()):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return bundle


def _list_content() -> Iterator[tuple[str, bytes]]:
    yield "manifest.json", json.dumps(describe_bundle(), indent=2, ensure_ascii=False).encode()
    yield ENTRY, (Path(__file__).parent / "main.py").read_bytes()
    for name in _FILES:
        yield name, (ROOT / name).read_bytes()
    for top in ("textrawl", "sql", "packages"):
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_bytes()


def announce(server: dict[str, Any], bundle: Path) -> dict[str, Any]:
    """Return the content of server.json with the bundle as one more package."""
    package = {
        "registryType": "mcpb",
        "identifier": f"{REPOSITORY}/releases/download/v{__version__}/{bundle.name}",
        "version": __version__,
        "fileSha256": sha256(bundle.read_bytes()).hexdigest(),
        "transport": {"type": "stdio"},
    }
    return {**server, "packages": [*server["packages"], package]}


def main() -> None:
    """Write the bundle, and beside it server.json with the bundle."""
    parser = argparse.ArgumentParser(description="Build the MCPB bundle of textrawl.")
    parser.add_argument("folder", type=Path, help="folder for the bundle and for server.json")
    folder: Path = parser.parse_args().folder
    bundle = build_bundle(folder)
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    written = json.dumps(announce(server, bundle), indent=2, ensure_ascii=False)
    (folder / "server.json").write_text(f"{written}\n", encoding="utf-8")
    sys.stdout.write(f"{bundle}\n")


if __name__ == "__main__":
    main()
