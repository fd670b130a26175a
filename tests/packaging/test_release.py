"""The files of a release: server.json, the bundle, the workflows and the Dockerfile."""

import importlib.util
import json
import re
import subprocess
import sys
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.clients.installing import Unavailable, install
from tests.support.installation import find_uv
from tests.support.pages import ROOT
from textrawl import Settings, __version__
from textrawl.environment import write_name

SCHEMAS = Path(__file__).parent / "schemas"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text("utf-8"))


def load_builder() -> ModuleType:
    """The script that builds the bundle."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "deploy/mcpb/build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUILDER = load_builder()


def find_faults(schema: str, content: dict[str, Any]) -> list[str]:
    """The messages of a schema about `content`."""
    validator: Any = Draft7Validator(json.loads((SCHEMAS / schema).read_text("utf-8")))
    return [error.message for error in validator.iter_errors(content)]


def read_workflow(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github/workflows" / name).read_text("utf-8"))


def run(*words: str | Path) -> str:
    """The output of a program that finds no fault."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def find_program(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def list_sources() -> list[str]:
    """The files of the package, without what running it leaves behind."""
    folder = ROOT / "textrawl"
    found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return [path.as_posix() for path in found if "__pycache__" not in path.parts]


def test_server_json_follows_its_schema_and_has_this_version() -> None:
    python, image = SERVER["packages"]

    assert find_faults("server.schema.json", SERVER) == []
    assert find_faults("server.schema.json", {**SERVER, "name": "textrawl"})
    assert {SERVER["version"], python["version"]} == {__version__}
    assert image["identifier"].endswith(f":{__version__}")


def test_server_json_names_only_settings_with_allowed_values() -> None:
    known = {write_name(name) for name in Settings.model_fields}
    given = [one for package in SERVER["packages"] for one in package["environmentVariables"]]

    assert {one["name"] for one in given} <= known
    for one in given:
        if "default" in one:
            field = one["name"].removeprefix("TEXTRAWL_").lower()
            chosen: Any = {field: one["default"]}
            assert getattr(Settings(**chosen), field) == getattr(Settings(), field)
    secret = {one["name"] for one in given if one.get("isSecret")}
    assert secret == {"TEXTRAWL_DATABASE_URL", "TEXTRAWL_ACCESS_TOKEN"}


def test_every_file_names_the_same_server_repository_and_image() -> None:
    texts = {name: (ROOT / name).read_text("utf-8") for name in ("README.md", "Dockerfile")}
    repository = SERVER["repository"]["url"]
    [image] = yaml.safe_load((ROOT / "deploy/kubernetes/kustomization.yaml").read_text())["images"]

    assert f"<!-- mcp-name: {SERVER['name']} -->" in texts["README.md"]
    assert f'io.modelcontextprotocol.server.name="{SERVER["name"]}"' in texts["Dockerfile"]
    assert f'org.opencontainers.image.source="{repository}"' in texts["Dockerfile"]
    assert repository == BUILDER.REPOSITORY
    assert SERVER["packages"][1]["identifier"] == f"{image['newName']}:{image['newTag']}"
    owner = repository.removeprefix("https://github.com/")
    assert image["newName"] == f"ghcr.io/{owner}"
    assert SERVER["name"] == f"io.github.{owner}"


def test_the_manifest_of_the_bundle_follows_its_schema_and_lists_the_five_tools() -> None:
    manifest = BUILDER.describe_bundle()

    assert find_faults("mcpb-manifest-v0.4.schema.json", manifest) == []
    assert find_faults("mcpb-manifest-v0.4.schema.json", {**manifest, "server": {}})
    assert [tool["name"] for tool in manifest["tools"]] == [
        "query_memory",
        "remember_fact",
        "build_knowledge",
        "relate_entities",
        "forget_entity",
    ]
    asked = set(re.findall(r"user_config\.(\w+)", json.dumps(manifest["server"])))
    assert asked == set(manifest["user_config"])
    assert all(option["default"] == "" for option in manifest["user_config"].values())
    names = {write_name(name) for name in Settings.model_fields}
    assert set(manifest["server"]["mcp_config"]["env"]) <= names


def test_two_builds_of_the_bundle_are_equal_and_announced_by_their_sum(tmp_path: Path) -> None:
    first, second = (BUILDER.build_bundle(tmp_path / name) for name in ("first", "second"))
    announced = BUILDER.announce(SERVER, first)

    assert first.read_bytes() == second.read_bytes()
    assert find_faults("server.schema.json", announced) == []
    package = announced["packages"][-1]
    assert package["fileSha256"] == sha256(second.read_bytes()).hexdigest()
    assert package["identifier"].endswith(f"/v{__version__}/{first.name}")
    with ZipFile(first) as archive:
        names = set(archive.namelist())
    assert {"manifest.json", "pyproject.toml", "server/main.py", "textrawl/py.typed"} <= names
    sources = {f"textrawl/{path}" for path in list_sources()}
    assert {name for name in names if name.startswith("textrawl/")} == sources


def test_the_linters_find_no_fault_in_the_workflows() -> None:
    updates = ROOT / ".github/dependabot.yml"
    for schema, paths in (("github-workflows", WORKFLOWS), ("dependabot", [updates])):
        run(find_program("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", *paths)
    assert "No findings" in run(find_program("zizmor"), "--offline", *WORKFLOWS, updates)


def test_a_workflow_uses_actions_of_one_commit_no_secret_and_only_the_rights_it_needs() -> None:
    for path in WORKFLOWS:
        text = path.read_text("utf-8")
        used = re.findall(r"uses: (\S+)(.*)", text)
        assert used
        assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one[0])] == []
        assert [one for one in used if not re.fullmatch(r" # v\d+\.\d+\.\d+", one[1])] == []
        assert "secrets." not in text
        assert read_workflow(path.name)["permissions"] == {}


@pytest.mark.slow
@pytest.mark.release
def test_the_list_of_packages_and_the_search_for_weaknesses_run_as_the_workflows_say(
    tmp_path: Path,
) -> None:
    scripts = [
        step["run"]
        for name, job in (("release.yml", "build"), ("weekly.yml", "audit"))
        for step in read_workflow(name)["jobs"][job]["steps"]
        if "uvx --from" in step.get("run", "")
    ]
    frozen = tmp_path / "installed.txt"
    frozen.write_text(run(str(find_uv()), "pip", "freeze", "--exclude-editable"))
    outcomes = list[str]()
    for script in scripts:
        [line] = [line for line in script.splitlines() if line.startswith("uvx --from")]
        _, _, package, program, *words = line.split()
        try:
            installed = install("PyPI", [package])
        except Unavailable as reason:
            pytest.skip(str(reason))
        places = {"sbom/textrawl.cdx.json": str(tmp_path / "sbom"), "installed.txt": str(frozen)}
        dry = ["--dry-run"] if program == "pip-audit" else []  # without the question to the index
        outcomes.append(
            run(installed / "bin" / program, *[str(places.get(w, w)) for w in words], *dry)
        )

    listed = json.loads((tmp_path / "sbom").read_text())
    versions = {one["name"]: one["version"] for one in listed["components"]}
    assert listed["metadata"]["component"]["name"] == "textrawl"
    assert versions["psycopg"] == metadata.version("psycopg")
    assert "would have audited" in outcomes[1].lower()


def test_only_a_tested_release_is_published_and_a_person_approves_it() -> None:
    jobs = read_workflow("release.yml")["jobs"]
    writing = {name for name, job in jobs.items() if "write" in job["permissions"].values()}

    assert writing == {"python", "image", "files", "registry"}
    for name in ("python", "image"):
        assert set(jobs[name]["needs"]) == {"tests", "build"}
        assert jobs[name]["environment"] == "release"
    assert set(jobs["files"]["needs"]) == {"python", "image"}
    assert jobs["registry"]["needs"] == "files"
    assert read_workflow("ci.yml")["jobs"]["tests"]["steps"][-1] == {"run": ".ci/run"}


@pytest.mark.skipif(
    not find_program("hadolint").exists(), reason="hadolint has no wheel for this machine"
)
def test_the_linter_finds_no_fault_in_the_dockerfile() -> None:
    assert run(find_program("hadolint"), ROOT / "Dockerfile") == ""


def test_the_image_runs_as_a_numbered_user_who_is_not_root() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()

    assert [line for line in lines if line.startswith("USER")] == ["USER 1000:1000"]
    assert any("--uid 1000 " in line for line in lines)
    assert lines[-1] == 'ENTRYPOINT ["tini", "--", "textrawl"]'
