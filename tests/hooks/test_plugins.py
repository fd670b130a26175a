"""The plugins and catalogues in the checkout are those that the description of events gives."""

import json
import os

import pytest

from tests.support.pages import ROOT
from textrawl.hooks.events import CLIENTS
from textrawl.hooks.plugins import find_additions, list_files

FILES = list_files()


def test_each_file_of_a_plugin_is_written_from_the_description_of_events() -> None:
    if os.environ.get("UPDATE_SNAPSHOTS"):
        for path, text in FILES.items():
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")

    differing = [
        path for path, text in FILES.items() if (ROOT / path).read_text(encoding="utf-8") != text
    ]
    assert differing == []


def test_the_folder_of_plugins_has_no_other_file() -> None:
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "plugins").rglob("*.*")}

    assert {path for path in found if (ROOT / path).is_file()} == {
        path for path in FILES if path.startswith("plugins/")
    }


@pytest.mark.parametrize("client", CLIENTS)
def test_the_configuration_of_a_client_runs_the_installed_program_at_each_event(
    client: str,
) -> None:
    additions = find_additions(client, ["/opt/text rawl"], {"TEXTRAWL_SPACE": "team"})

    hooks = {addition.keys[1]: addition for addition in additions if addition.keys[0] == "hooks"}
    assert [*hooks] == [event.name for event in CLIENTS[client].events]
    for name, addition in hooks.items():
        command = f"env TEXTRAWL_SPACE=team '/opt/text rawl' hook {client} {name}"
        assert addition.append
        assert json.dumps(command) in json.dumps(addition.value)


def test_a_client_without_hooks_gets_no_configuration() -> None:
    assert find_additions("zed", ["textrawl"]) == []
