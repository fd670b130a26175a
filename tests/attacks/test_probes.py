"""Probes between repositories: whatever is asked, no fact of another one is shown unasked.

The probes are made from the lists of what a server answers: tools, operations of commands,
resources, prompts and completions. What is added to a list is probed too.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from tests.attacks.generation import Attempt, Loot, draw, list_attempts
from tests.attacks.site import Site, issue, open_site
from tests.values.test_repository import make_repository
from textrawl.access.access_token import hash_token
from textrawl.host.repository import find_repository
from textrawl.settings import Settings
from textrawl.tools.catalogue import find_toolsets

pytestmark = pytest.mark.anyio

REMOTES = {
    "acme-api": "git@github.com:acme/acme-api.git",
    "acme-api-v2": "https://github.com/acme/acme-api-v2",
    "fork": "https://github.com/ben/acme-api",
    "clone": "https://github.com/Acme/acme-api",
}
WRITERS = ("acme-api", "acme-api-v2", "fork")
OWN = {name: name for name in WRITERS} | {"clone": "acme-api", "worktree": "acme-api"}
"""Folders that ask, each with the one whose facts it may find."""
SECRETS = {name: hashlib.md5(name.encode()).hexdigest() for name in WRITERS}  # noqa: S324
ASKED = {
    "list_proposals": "what waits for a decision is of a space, and no fact yet",
    "command list_proposals": "as list_proposals",
    "command tidy": "it proposes what it finds, as list_proposals shows it",
    "forget_entity": "it names an entity, and shows what would go with it",
    "command forget": "as forget_entity",
}
"""What shows facts of all repositories, with the reason."""
MOVED = {
    "merge_entities": "what becomes one with a preference or a person belongs to no repository",
    "command merge": "as merge_entities",
}
"""What changes to which repository the facts of others belong, with the reason."""
FOREIGN = """
    select id from observation
    where repository is not null
      and split_part(repository, '#', 1) <> all(string_to_array(%s, ' '))"""
SUITED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("query_memory", {"query": "canary"}),
    ("query_memory", {"mode": "entity", "entityName": "Canary default"}),
    ("query_memory", {"mode": "list"}),
    ("open_nodes", {"names": ["Canary default"]}),
    ("search_nodes", {"query": "vault"}),
    ("search_reflections", {"query": "like"}),
    ("search_memory", {"query": "canary"}),
    ("find_same_entities", {}),
)
"""Calls that find facts of every repository where the session has none."""
WRITTEN: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "add_observations",
        {"observations": [{"entityName": "Canary default", "contents": ["a canary"]}]},
    ),
    ("remember_fact", {"entityName": "Canary default", "observation": "canary default hides it"}),
)
"""Calls that write, and answer with what there is beside it."""
STATEMENTS = (
    "select remember_fact('Canary default', 'project', 'canary default hides ' || %(secret)s)",
    "select remember_fact('Vaults ' || %(secret)s, 'project', 'knows the canary ' || %(secret)s)",
    "select remember_fact('Vault ' || %(secret)s, 'project', 'the vault knows ' || %(secret)s)",
    "select relate_entities('Vault ' || %(secret)s, 'hides', 'Vaults ' || %(secret)s)",
    "select name_entity('Vault ' || %(secret)s, 'Ada ' || %(secret)s)",
    "select pin_fact('Canary default', 'canary default hides ' || %(secret)s)",
    "select remember_fact('Canary default', 'project', 'wrong ' || %(secret)s)",
    "select revise_fact('Canary default', 'wrong ' || %(secret)s, 'it is no ' || %(secret)s)",
    "select remember_fact('Canary default', 'project', 'the port is ' || left(%(secret)s, 3))",
    "select save_memory(to_jsonb('canary memory ' || %(secret)s), tags => '{mine}')",
    "select add_observations(jsonb_build_array(jsonb_build_object('entity', 'Canary default',"
    " 'observations', jsonb_build_array('observed ' || %(secret)s))))",
    "select write_graph(jsonb_build_array(jsonb_build_object('label', 'Node ' || %(secret)s,"
    " 'type', 'project', 'description', 'guards ' || %(secret)s, 'memory', 'mine')), '[]')",
    "select write_graph(jsonb_build_array(jsonb_build_object('label', 'Canary default',"
    " 'type', 'project', 'description', 'described as ' || %(secret)s)), '[]')",
    "select add_reflection('entity', 'I like ' || %(secret)s, 'me', target => node_number(id))"
    " from entity where name = 'Vault ' || %(secret)s",
    "select remember_fact('Canary default', 'project', 'proposed ' || %(secret)s,"
    " credential => %(agent)s, space => (select id from space where name = 'default'))",
)


def make_folders(root: Path) -> dict[str, str]:
    """Write repositories. Return their keys by their folders, as a session there finds them."""
    for name, url in REMOTES.items():
        make_repository(root / name, url)
    linked = root / "acme-api/.git/worktrees/w"
    linked.mkdir(parents=True)
    (linked / "commondir").write_text("../..\n")
    (linked / "HEAD").write_text("ref: refs/heads/other\n")
    (root / "worktree").mkdir()
    (root / "worktree/.git").write_text(f"gitdir: {linked}\n")
    (root / "plain").mkdir()
    names = (*REMOTES, "worktree", "plain")
    return {name: " ".join(find_repository(root / name)) for name in names}


def fill(owner: psycopg.Connection, keys: dict[str, str], agent: bytes) -> None:
    """Store facts, relations, pins and more in each repository, and some in none."""
    for name in WRITERS:
        owner.execute("select set_config('textrawl.repository', %s, false)", (keys[name],))
        for statement in STATEMENTS:
            owner.execute(statement.encode(), {"secret": SECRETS[name], "agent": agent})
    owner.execute("select set_config('textrawl.repository', '', false)")
    owner.execute("select remember_fact('Ada', 'person', 'knows the canary default')")


def hear(owner: psycopg.Connection, key: str) -> Loot:
    """Return what a session can have heard: names, and the ids of its own facts and of no other."""
    query = """
        select array_agg(distinct o.id::text), array_agg(distinct o.entity_id::text),
            array_agg(distinct node_number(o.entity_id))
        from observation o join space s on s.id = o.space_id
        where s.name = 'default'
          and split_part(o.repository, '#', 1) = any(string_to_array(%s, ' '))
          and not exists (select from fact f where f.entity_id = o.entity_id
                          and f.repository <> o.repository)"""
    [(facts, entities, numbers)] = owner.execute(query, (key,)).fetchall()
    return Loot("default", facts, numbers, entities, [], [])


def is_asked(name: str, attempt: Attempt) -> bool:
    """Return whether a request names the facts of other repositories."""
    arguments = attempt.params.get("arguments", attempt.params)
    return name in ASKED or arguments.get("everywhere", False)


def call(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[tuple[str, Attempt]]:
    """Return requests for tools with these arguments."""
    return [
        (tool, Attempt("tools/call", {"name": tool, "arguments": arguments}, "/mcp"))
        for tool, arguments in calls
    ]


def list_probes(loot: Loot, each: int) -> list[tuple[str, Attempt]]:
    """Return requests for everything that a server answers, and some that find facts."""
    return call(SUITED) + [
        (name, attempt)
        for name, attempt in draw(list_attempts(loot).items(), each)
        if not is_asked(name, attempt)
    ]


async def probe(
    site: Site, token: str, key: str, probes: Sequence[tuple[str, Attempt]]
) -> list[set[str]]:
    """Return the repositories of which each answer has facts, for a session in one of them."""
    site.http.headers["textrawl-repository"] = quote(key, safe=" /:#@+~")
    found = list[set[str]]()
    for _, attempt in probes:
        answer = await site.ask(token, attempt.method, attempt.params, attempt.path)
        found.append({name for name, secret in SECRETS.items() if secret in answer.text.lower()})
    return found


def find_leaks(
    probes: Sequence[tuple[str, Attempt]], found: Sequence[set[str]], own: str
) -> list[str]:
    """Return the probes whose answers have facts of other repositories than `own`."""
    return [
        f"{own}: {name} {attempt.params}"
        for (name, attempt), names in zip(probes, found, strict=True)
        if names - {own}
    ]


def test_what_shows_facts_of_all_repositories_is_in_the_lists_of_what_a_server_answers() -> None:
    assert {*ASKED, *MOVED} <= list_attempts(Loot("default", ["x"], [1], ["x"], [], [])).keys()


@pytest.mark.parametrize(
    ("folders", "each"),
    [
        (("acme-api",), 1),
        pytest.param((*OWN,), 2, marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
    ],
)
async def test_no_probe_finds_a_fact_of_another_repository_without_being_asked(
    owner: psycopg.Connection,
    settings: Callable[..., Settings],
    tmp_path: Path,
    folders: Sequence[str],
    each: int,
) -> None:
    keys = make_folders(tmp_path)
    token = issue(owner, "reader", "default", "read", "review", "propose")
    fill(owner, keys, hash_token(issue(owner, "agent", "default", "propose")))
    given = settings(embedding_provider="none", toolsets=list(find_toolsets()))
    leaks, found, count = list[str](), dict[str, list[set[str]]](), 0

    async with open_site(given) as site:
        for folder in folders:
            probes = list_probes(hear(owner, keys[OWN[folder]]), each)
            found[folder] = await probe(site, token, keys[folder], probes)
            count += len(probes)
            leaks += find_leaks(probes, found[folder], OWN[folder])
        probes = list_probes(hear(owner, keys["acme-api"]), each)
        everywhere = await probe(site, token, keys["plain"], probes)
        writer = issue(owner, "writer", "default", "read", "write")
        writes = call(WRITTEN) + [one for one in probes if one[0] not in MOVED]
        foreign = [row[0] for row in owner.execute(FOREIGN, (keys["acme-api"],))]
        written = await probe(site, writer, keys["acme-api"], writes)
        leaks += find_leaks(writes, written, "acme-api")
        count += len(writes)

    print(f"{count:,} probes, {len(leaks)} leaks")  # noqa: T201
    assert [name for name, key in keys.items() if not key] == ["plain"]
    assert leaks == []
    lost = "select content from observation where id = any(%s) and repository is null"
    assert foreign
    assert owner.execute(lost, (foreign,)).fetchall() == []
    assert count > 1000 or len(folders) == 1
    # The probes find what is there, also in other repositories where the folder is in none.
    showing = {name for (name, _), names in zip(probes, everywhere, strict=True) if len(names) > 1}
    assert {tool for tool, _ in SUITED} <= showing
    for other in {"worktree", "clone"} & {*folders}:
        assert found[other] == found["acme-api"], other
