"""compose.yaml and what it mounts: no engine is here, so the files are read and their parts run."""

import base64
import hashlib
import hmac
import ipaddress
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import yaml
from psycopg.conninfo import conninfo_to_dict

from tests.conftest import Databases
from tests.support.composition import (
    APP_PASSWORD,
    OPERATIONS,
    OWNER_PASSWORD,
    TEAM,
    find_variables,
    read_composition,
)
from tests.support.pages import PAGES, ROOT, read_blocks, read_commands
from textrawl import Settings
from textrawl.embedded.postmaster import ANALYST, APP, OWNER, SUPERUSER
from textrawl.environment import write_name

TOLD = read_composition(**{OWNER_PASSWORD: "of-owner", APP_PASSWORD: "of-app"})
SERVICES: dict[str, dict[str, Any]] = TOLD["services"]
OURS = {"migrate", "server", "admin"}
ROLES = ROOT / "compose/roles.sql"
SEAL = ROOT / "compose/container.sql"


def test_the_server_can_be_given_every_setting_but_those_that_a_container_has_no_use_for() -> None:
    known = {write_name(name) for name in Settings.model_fields}

    given = set(SERVICES["server"]["environment"])

    assert given - known == {"FORWARDED_ALLOW_IPS"}  # uvicorn's
    of_hooks = {name for name in known if "_HOOK" in name}
    of_clients = {f"TEXTRAWL_{n}" for n in ("ACCESS_TOKEN_FILE", "SERVER_URL", "HOST_IDLE")}
    here = {"TEXTRAWL_DATA_DIR", "TEXTRAWL_HTTP_PORT", "TEXTRAWL_VAULT"}
    assert known - given == here | of_hooks | of_clients


def test_only_this_machine_reaches_a_port() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]

    usual = str(Settings.model_fields["http_port"].default)
    assert ports == ["127.0.0.1:5432:5432", f"127.0.0.1:{usual}:{usual}"]


def test_containers_of_ours_can_write_nowhere_and_gain_no_right() -> None:
    assert {name for name, service in SERVICES.items() if service["image"] == "textrawl"} == OURS
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        if name in OURS:
            assert service["read_only"] is True
            assert "volumes" not in service
            assert "cap_add" not in service
            assert service["build"] == "."


def test_each_container_logs_in_as_who_it_has_to_be_and_knows_no_other_password() -> None:
    urls = {name: SERVICES[name]["environment"]["TEXTRAWL_DATABASE_URL"] for name in OURS}
    logins = {name: conninfo_to_dict(url) for name, url in urls.items()}

    assert {name: service["user"] for name, service in logins.items()} == {
        "migrate": OWNER, "admin": OWNER, "server": APP,
    }  # fmt: skip
    assert {(service["host"], service["dbname"]) for service in logins.values()} == {
        ("postgres", SERVICES["postgres"]["environment"]["POSTGRES_DB"])
    }
    assert "of-owner" not in str(SERVICES["server"])


def test_the_server_starts_when_the_schema_is_there_and_has_time_to_end() -> None:
    depends = SERVICES["server"]["depends_on"]
    conditions = {name: service["condition"] for name, service in depends.items()}

    assert conditions == {
        "postgres": "service_healthy", "migrate": "service_completed_successfully",
    }  # fmt: skip
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert SERVICES["admin"]["profiles"] == ["admin"]
    assert int(SERVICES["server"]["stop_grace_period"].removesuffix("s")) >= 15
    assert [SERVICES[name].get("command") for name in ("migrate", "server", "admin")] == [
        ["migrate"], ["serve", "--http"], None,
    ]  # fmt: skip


def test_what_is_mounted_is_there_and_data_outlive_their_container() -> None:
    mounts = [mount.split(":") for mount in SERVICES["postgres"]["volumes"]]
    [(volume, folder), (script, place, mode), (walls, middle, _), (seal, second, _)] = mounts

    assert volume in TOLD["volumes"]
    assert folder == "/var/lib/postgresql"
    assert (ROOT / script).resolve() == ROLES
    assert (place, mode) == ("/docker-entrypoint-initdb.d/roles.sql", "ro")
    assert (ROOT / seal).resolve() == SEAL
    assert (ROOT / walls).resolve() == ROOT / "sql/restrictions.sql"
    assert second > middle > place  # the image runs them in this order
    for page in (ROLES, OPERATIONS):
        assert f"-f {place}" in page.read_text(encoding="utf-8")


def test_who_sent_a_request_is_believed_from_the_gateway_alone() -> None:
    [network] = TOLD["networks"]["default"]["ipam"]["config"]

    assert SERVICES["server"]["environment"]["FORWARDED_ALLOW_IPS"] == network["gateway"]
    gateway = ipaddress.ip_address(network["gateway"])
    assert gateway in ipaddress.ip_network(network["subnet"])


def test_the_command_of_the_pages_writes_the_passwords_once_and_for_its_user_alone(
    tmp_path: Path,
) -> None:
    commands = {line for page in PAGES for line in read_commands(page) if "openssl" in line}
    [command] = commands

    done, again = (
        subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=False)
        for _ in range(2)
    )

    file = tmp_path / ".env"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert {line.split("=")[0] for line in lines} == find_variables()
    assert all(re.fullmatch(r"\w+=[0-9a-f]{48}", line) for line in lines)
    assert len({line.split("=")[1] for line in lines}) == 2
    assert file.stat().st_mode & 0o777 == 0o600
    assert (done.returncode, again.returncode != 0) == (0, True)
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").split()


def run_psql(postgres: Databases, database: str, text: str) -> subprocess.CompletedProcess[str]:
    """`text` as psql's input, as the superuser, with the passwords in the environment."""
    passwords = {OWNER_PASSWORD: "own'er", APP_PASSWORD: "ap\\p $1"}
    return subprocess.run(
        [postgres.cluster.bin_path / "psql", "-X", postgres.cluster.dsn(SUPERUSER, database)],
        input=text, env={**os.environ, **passwords}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def knows_password(verifier: str, password: str) -> bool:
    """Whether Postgres would take it (RFC 5803, RFC 5802)."""
    iterations, salt, keys = verifier.removeprefix("SCRAM-SHA-256$").replace("$", ":").split(":", 2)
    salted = hashlib.pbkdf2_hmac(
        "sha256", password.encode(), base64.b64decode(salt), int(iterations)
    )
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    return base64.b64decode(keys.split(":")[0]) == stored


def list_roles(postgres: Databases) -> dict[str, Sequence[Any]]:
    query = """
        select rolname, rolcanlogin, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls,
            rolpassword
        from pg_authid where rolname = any(%s)"""
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, "postgres")) as connection:
        names = [OWNER, APP, ANALYST, SUPERUSER]
        return {row[0]: row[1:] for row in connection.execute(query, [names])}


def test_roles_are_made_where_there_are_none(postgres: Databases) -> None:
    moved = [OWNER, APP, ANALYST]
    with postgres.create() as database:
        away = "".join(f"alter role {name} rename to {name}_away;\n" for name in moved)
        shown = "select rolname from pg_roles where rolname ~ '^textrawl_[a-z]+$' order by 1;"
        script = f"\\set ON_ERROR_STOP on\nbegin;\n{away}\\i {ROLES}\n{shown}\nrollback;\n"
        done = run_psql(postgres, database, script)

    assert done.returncode == 0, done.stderr
    assert re.findall(r"^ (textrawl_\w+)$", done.stdout, re.MULTILINE) == sorted(moved)


def test_the_roles_have_their_passwords_and_no_right_too_many_however_often_it_runs(
    postgres: Databases,
) -> None:
    with postgres.create() as database:
        for _ in range(2):
            done = run_psql(postgres, database, ROLES.read_text(encoding="utf-8"))
            assert done.returncode == 0, done.stderr
        done = run_psql(postgres, database, SEAL.read_text(encoding="utf-8"))
        assert done.returncode == 0, done.stderr
        roles = list_roles(postgres)
        with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as connection:
            row = connection.execute(
                """
                select pg_get_userbyid(datdba),
                    has_database_privilege('textrawl_app', oid, 'temp'),
                    has_database_privilege('textrawl_analyst', oid, 'temp'),
                    has_database_privilege('textrawl_app', oid, 'connect'),
                    exists (select from pg_extension where extname = 'vector')
                from pg_database where datname = current_database()"""
            ).fetchone()

    assert {name: service[:2] for name, service in roles.items()} == {
        OWNER: (True, False), APP: (True, False), ANALYST: (False, False), SUPERUSER: (True, True),
    }  # fmt: skip
    assert knows_password(roles[OWNER][2], "own'er")
    assert knows_password(roles[APP][2], "ap\\p $1")
    assert not knows_password(roles[APP][2], "own'er")
    assert (roles[ANALYST][2], roles[SUPERUSER][2]) == (None, None)
    assert row == (OWNER, False, False, True, True)


def test_no_role_is_made_without_a_password(postgres: Databases) -> None:
    with postgres.create() as database:
        text = f"\\unset owner_password\n\\setenv {OWNER_PASSWORD}\n{ROLES.read_text()}"
        done = run_psql(postgres, database, text)

    assert done.returncode == 3
    assert "password" not in done.stdout


def test_addresses_on_the_pages_are_those_of_the_composition() -> None:
    team = TEAM.read_text(encoding="utf-8")
    [public] = SERVICES["server"]["ports"]
    address = public.rpartition(":")[0]
    proxies = [
        block.body for block in read_blocks(TEAM) if block.language in {"caddyfile", "nginx"}
    ]
    [scrape] = [yaml.safe_load(b.body) for b in read_blocks(OPERATIONS) if b.language == "yaml"]
    [job] = scrape["scrape_configs"]

    assert [re.findall(r"127\.0\.0\.1:\d+", text) for text in proxies] == [[address]] * 2
    assert job["static_configs"] == [{"targets": [address]}]
    assert f"http://{address}/mcp" in team
    assert SERVICES["server"]["environment"]["TEXTRAWL_PUBLIC_URL"] == f"http://{address}"
    for block in read_blocks(TEAM):
        if block.language == "ini":
            names = {line.split("=")[0] for line in block.body.splitlines()}
            assert names <= {write_name(name) for name in Settings.model_fields}
