"""deploy/kubernetes: no cluster is here, so the files are checked and their commands run."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate  # pyright: ignore[reportMissingTypeStubs]
import psycopg
import pytest
import yaml
from dotenv import dotenv_values

from tests.conftest import TOKEN, Databases, enrol
from tests.support.commands import Launch, home, launch, wait_for
from tests.support.listening import find_port
from tests.support.pages import ROOT
from textrawl import Settings
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.environment import write_name

__all__ = ["home", "launch"]

FOLDER = ROOT / "deploy/kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
VERSIONS = ("1.30", "1.37")  # the oldest that the page names, and the newest that is known
FOREIGN = "FORWARDED_ALLOW_IPS"  # uvicorn's


def read_manifests() -> Iterator[dict[str, Any]]:
    for name in KUSTOMIZATION["resources"]:
        yield from yaml.safe_load_all((FOLDER / name).read_text("utf-8"))


MANIFESTS = {(one["kind"], one["metadata"]["name"]): one for one in read_manifests()}
SERVER: dict[str, Any] = MANIFESTS["Deployment", "textrawl"]["spec"]
MIGRATE: dict[str, Any] = MANIFESTS["Job", "textrawl-migrate"]["spec"]
PODS: list[dict[str, Any]] = [SERVER["template"]["spec"], MIGRATE["template"]["spec"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_follows_the_schema_of_kubernetes(version: str) -> None:
    for manifest in MANIFESTS.values():
        kubernetes_validate.validate(manifest, version, strict=True)
    broken = {**MANIFESTS["Service", "textrawl"], "spec": {"port": 80}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, version, strict=True)


def test_every_manifest_is_part_of_the_kustomization() -> None:
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}

    assert set(KUSTOMIZATION["resources"]) == files
    [generator] = KUSTOMIZATION["configMapGenerator"]
    [container] = PODS[0]["containers"]
    assert container["envFrom"] == [{"configMapRef": {"name": generator["name"]}}]
    assert [(FOLDER / name).is_file() for name in generator["envs"]] == [True]
    images = {pod["containers"][0]["image"] for pod in PODS}
    assert images == {KUSTOMIZATION["images"][0]["name"]}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_puts_the_manifests_together() -> None:
    words = ["kubectl", "kustomize", str(FOLDER)]
    made = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    manifests = list(yaml.safe_load_all(made))

    assert {one["kind"] for one in manifests} == {kind for kind, _ in MANIFESTS} | {"ConfigMap"}
    for manifest in manifests:
        kubernetes_validate.validate(manifest, VERSIONS[-1], strict=True)
    [image] = KUSTOMIZATION["images"]
    assert made.count(f"image: {image['newName']}:{image['newTag']}\n") == len(PODS)


def test_settings_exist_and_a_secret_is_only_referred_to() -> None:
    known = {write_name(name) for name in Settings.model_fields} | {FOREIGN}
    shared = dotenv_values(FOLDER / "settings.env")
    own = [one for pod in PODS for one in pod["containers"][0]["env"]]

    assert set(shared) | {one["name"] for one in own} <= known
    given: dict[str, Any] = {
        name.removeprefix("TEXTRAWL_").lower(): shared[name] for name in shared if name != FOREIGN
    }
    assert Settings(**given)
    literal = {one["name"] for one in own if "value" in one}
    assert literal == {"TEXTRAWL_HTTP_HOST"}
    assert all("secretKeyRef" in one["valueFrom"] for one in own if "value" not in one)
    assert not any(kind == "Secret" for kind, _ in MANIFESTS)


def test_the_servers_do_not_know_the_login_of_the_owner() -> None:
    secrets = [re.findall(r"'name': '(textrawl-\w+)', 'key'", str(pod)) for pod in PODS]

    assert [set(names) for names in secrets] == [{"textrawl-server"}, {"textrawl-owner"}]
    assert [pod["containers"][0]["args"] for pod in PODS] == [["serve", "--http"], ["migrate"]]


def test_the_page_creates_the_secrets_that_the_manifests_name() -> None:
    page = (ROOT / "docs/kubernetes.md").read_text("utf-8")
    made = re.findall(r"create secret generic (\S+) --from-file=(\S+)=\S+", page)
    needed = [
        (reference["name"], reference["key"])
        for pod in PODS
        for one in pod["containers"][0]["env"]
        if (reference := one.get("valueFrom", {}).get("secretKeyRef", {"optional": True}))
        if not reference.get("optional")
    ]
    [probe] = [volume["secret"] for volume in PODS[0]["volumes"] if "secret" in volume]

    assert set(made) == {*needed, (probe["secretName"], "token")}
    assert "/run/secrets/textrawl/token" in str(PODS[0]["containers"][0]["readinessProbe"])


@pytest.mark.parametrize("pod", PODS, ids=["server", "migrate"])
def test_a_container_can_write_only_to_tmp_and_gain_no_right(pod: dict[str, Any]) -> None:
    [container] = pod["containers"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = container["volumeMounts"]

    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 1000
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = [mount["mountPath"] for mount in mounts if not mount.get("readOnly")]
    assert writable == ["/tmp"]  # noqa: S108 - a path of the container
    assert volumes["tmp"]["emptyDir"]["medium"] == "Memory"
    assert "memory" in container["resources"]["limits"]


def test_selectors_ports_and_times_fit_together() -> None:
    labels = SERVER["template"]["metadata"]["labels"]
    service = MANIFESTS["Service", "textrawl"]["spec"]
    budget = MANIFESTS["PodDisruptionBudget", "textrawl"]["spec"]
    [container] = PODS[0]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}

    assert service["selector"] == labels == SERVER["selector"]["matchLabels"]
    assert budget["selector"]["matchLabels"] == labels
    assert MIGRATE["template"]["metadata"]["labels"] != labels
    assert ports == {service["ports"][0]["targetPort"]: Settings.model_fields["http_port"].default}
    assert budget["minAvailable"] < SERVER["replicas"]
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert PODS[0]["terminationGracePeriodSeconds"] >= pause + 15


def ask_readiness(port: int, token: Path) -> int:
    """The exit code of the readiness probe, at another port and with another file."""
    *_, script = PODS[0]["containers"][0]["readinessProbe"]["exec"]["command"]
    for known, here in (("8000", str(port)), ("/run/secrets/textrawl/token", str(token))):
        assert known in script
        script = script.replace(known, here)
    words = [sys.executable, "-c", script]
    return subprocess.run(words, capture_output=True, check=False, timeout=20).returncode


@pytest.mark.slow
def test_the_commands_of_the_containers_migrate_serve_and_answer_the_probes(
    postgres: Databases, launch: Launch, home: Path, tmp_path: Path
) -> None:
    folder, port = tmp_path / "empty", find_port()
    folder.mkdir()
    outside = {"HOME": str(folder), "TMPDIR": str(home)}
    shared = {**dotenv_values(FOLDER / "settings.env"), **outside, "TEXTRAWL_HTTP_PORT": str(port)}
    token = tmp_path / "token"
    with postgres.create() as database:
        with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database), autocommit=True) as own:
            own.execute("create extension vector")
        owner, app = (postgres.cluster.dsn(role, database) for role in (OWNER, APP))
        assert ask_readiness(port, token) != 0
        migrated = launch(*PODS[1]["containers"][0]["args"], TEXTRAWL_DATABASE_URL=owner, **outside)
        assert migrated.end().code == 0
        enrol(owner)
        server = launch(
            *PODS[0]["containers"][0]["args"],
            **{**shared, "TEXTRAWL_DATABASE_URL": app, "TEXTRAWL_HTTP_HOST": "0.0.0.0"},  # noqa: S104
        )
        wait_for(lambda: ask_readiness(port, token) == 0)
        token.write_text("trl_unknown")
        assert ask_readiness(port, token) != 0
        token.write_text(f"{TOKEN}\n")
        assert ask_readiness(port, token) == 0
        assert server.end(signal.SIGTERM).code == 0
    assert list(folder.iterdir()) == []
