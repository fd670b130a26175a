"""Webhooks in SQL: no event is passed over, one server delivers, and spaces stay apart."""

import json
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.support.commands import wait_for
from tests.support.sharing import call, issue, log_in, refuse
from textrawl.embedded.postmaster import ANALYST, APP

pytestmark = pytest.mark.follows

HOSTS = ["hooks.example.com:443"]
URL = "https://hooks.example.com/memory"

# Texts that are not an address for a webhook, whatever the settings of a server name.
REFUSED = (
    "", "hooks.example.com", "//hooks.example.com/", "ftp://hooks.example.com/",
    "file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "javascript:alert(1)", "data:,x",
    "unix:/run/docker.sock", "http+unix://%2Frun%2Fdocker.sock/", "https:/hooks.example.com/",
    "https://", "https:///memory", "http://hooks.example.com/", "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data", "http://127.0.0.2/", "http://127.1/",
    "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://0.0.0.0/",
    "http://localhost.example.com/", "http://[::ffff:127.0.0.1]/", "http://[::]/",
    "https://user@hooks.example.com/", "https://user:secret@hooks.example.com/",
    "https://hooks.example.com@evil.example/", "https://hooks.example.com:443@evil.example/",
    r"https://hooks.example.com\@evil.example/", r"https://hooks.example.com\.evil.example/",
    "https://hooks.example.com#@evil.example/", "https://hooks.example.com?x=1",
    "https://hooks.example.com/#here", "https://hooks.example.com/a b",
    "https://hooks.example.com/\r\nHost: evil.example",
    "https://hooks.example.com:0/", "https://hooks.example.com:65536/",
    "https://hooks.example.com:99999999999/", "https://hooks.example.com:-1/",
    "https://hooks.example.com:443:443/", "https://hooks_example.com/", "https://höoks.example/",
    "https://hooks.example.com\u3002evil.example/", "https://-hooks.example.com/",
    "https://[fe80::1%25eth0]/", "https://[::1", "https://hooks.example.com/" + "a" * 2000,
    " https://hooks.example.com/", "https://hooks.example.com/\n", "https://%65vil.example/",
)  # fmt: skip


def add(sql: psycopg.Connection, **given: Any) -> UUID:
    [(hook, secret)] = call(sql, "add_webhook", **{"name": "default", "url": URL, **given})
    assert secret.startswith("whsec_")
    return hook


def remember(sql: psycopg.Connection, name: str, space: int | None = None) -> None:
    call(sql, "remember_fact", entity=name, type="person", observation="likes tea", space=space)


def claim(sql: psycopg.Connection, number: UUID, **given: Any) -> list[UUID]:
    given = {"hosts": HOSTS, "max_rows": 8, **given}
    return [row[1] for row in call(sql, "claim_webhooks", claim=number, **given)]


def read(
    sql: psycopg.Connection, hook: UUID, number: UUID, after: str | None = None, **given: Any
) -> list[tuple[str, str]]:
    """The cursor and the action of each message; an empty action for an event of another kind."""
    place = {"space": 1, "hook": hook, "claim": number, "after": after, **given}
    rows = call(sql, "next_webhook_events", **place)
    return [(at, json.loads(body)["data"]["action"] if body else "") for at, body in rows]


def test_40_hostile_addresses_are_refused_and_no_other(sql: psycopg.Connection) -> None:
    assert len(REFUSED) >= 40
    for url in REFUSED:
        assert refuse(sql, "add_webhook", name="default", url=url) == "TR099", url
    for url, host in {
        "HTTPS://Hooks.Example.COM/a?b=c": "hooks.example.com:443",
        "https://hooks.example.com": "hooks.example.com:443",
        "https://93.184.216.34:8443/": "93.184.216.34:8443",
        "http://localhost:9000/x": "localhost:9000",
        "http://[::1]/": "[::1]:80",
    }.items():
        add(sql, url=url)
        [row] = sql.execute("select url, host from webhook").fetchall()
        assert row[1] == host
        assert row[0].startswith(f"{url.partition(':')[0].lower()}://{host.rpartition(':')[0]}")
        sql.execute("delete from webhook")
    assert refuse(sql, "add_webhook", name="default", url=URL, events=["all"]) == "TR100"
    assert refuse(sql, "add_webhook", name="default", url=URL, events=[]) == "TR100"
    for _ in range(20):
        add(sql)
    assert refuse(sql, "add_webhook", name="default", url=URL) == "TR101"


def test_an_event_of_a_transaction_that_commits_late_is_not_passed_over(
    sql: psycopg.Connection,
) -> None:
    remember(sql, "Before")
    hook, number = add(sql, events=["stored"]), uuid4()
    with psycopg.connect(sql.info.dsn) as late:
        late.execute("select textrawl.remember_fact('Late', 'person', 'likes tea')")
        remember(sql, "Early")
        assert claim(sql, number) == []  # Late may still add events before those of Early
        late.commit()
    assert claim(sql, number) == [hook]
    rows = read(sql, hook, number)
    assert [action for _, action in rows] == ["created", "remembered"] * 2
    # The place moves forward only, and past events of another kind.
    [(after, _)] = rows[-1:]
    assert read(sql, hook, number, rows[0][0]) == rows[1:]
    call(sql, "forget_entity", entity="Early")
    assert [action for _, action in read(sql, hook, number, after)] == [""]
    [(end, _)] = read(sql, hook, number, rows[1][0])
    assert read(sql, hook, number, end) == []
    assert claim(sql, uuid4()) == []
    assert (
        refuse(sql, "next_webhook_events", space=1, hook=hook, claim=number, after="x") is not None
    )


def test_every_action_of_the_trail_has_its_kind(sql: psycopg.Connection) -> None:
    kinds = {
        "stored": "created retyped described remembered updated replaced moved ended related"
        " written outvoted named unnamed merged split reflected faded imported revised shared",
        "proposed": "proposed", "decided": "accepted rejected expired",
        "forgotten": "forgotten deleted erased", "undone": "undone restored",
        None: "used repeated snapshot pinned unpinned",
    }  # fmt: skip
    for kind, actions in kinds.items():
        for action in actions.split():
            assert call(sql, "webhook_kind", action=action) == [(kind,)]


def test_one_server_at_a_time_delivers_and_a_killed_one_makes_nobody_wait(
    sql: psycopg.Connection,
) -> None:
    hook, first, second = add(sql), uuid4(), uuid4()
    remember(sql, "Ada")
    with psycopg.connect(sql.info.dsn, autocommit=True) as server:
        assert claim(server, first, hosts=["other.example:443", "hooks.example.com:80"]) == []
        assert claim(server, first) == [hook]
        [*_, (last, _)] = read(server, hook, first)
        assert claim(sql, second) == []
        sql.execute("update webhook set claimed_until = now()")  # it hangs for longer than a minute
        assert claim(sql, second) == [hook]
        assert read(server, hook, first, last) == []
        assert call(server, "fail_webhook", space=1, hook=hook, claim=first, error="late") == [
            (False,)
        ]
        assert [action for _, action in read(sql, hook, second)] == ["created", "remembered"]
        sql.execute("update webhook set claimed_until = now()")
        assert claim(server, first) == [hook]
    wait_for(lambda: claim(sql, second) == [hook])  # the session ends, and not yet its minute


def test_attempts_wait_for_longer_each_time_up_to_an_hour(sql: psycopg.Connection) -> None:
    hook, number = add(sql), uuid4()
    remember(sql, "Ada")
    waits: list[float] = []
    for _ in range(15):
        sql.execute("update webhook set next_try_at = now()")
        assert claim(sql, number) == [hook]
        given = {"space": 1, "hook": hook, "claim": number, "error": "HTTP 500"}
        assert call(sql, "fail_webhook", **given) == [(False,)]
        waits += sql.execute(
            "select extract(epoch from next_try_at - clock_timestamp())::float from webhook"
        ).fetchall()[0]
    assert [round(wait) for wait in waits] == [min(2**n, 3600) for n in range(15)]
    assert claim(sql, uuid4()) == []
    [state] = sql.execute("select state, queue, failures, last_error from list_webhooks()")
    assert state == ("retrying", 2, 15, "HTTP 500")


@pytest.fixture
def team(sql: psycopg.Connection) -> dict[str, int]:
    """The ids of two spaces beside the first."""
    for name in ("team", "rival"):
        call(sql, "create_space", name=name)
    return dict(sql.execute("select name, id from space").fetchall())


def test_an_administrator_reaches_the_webhooks_of_the_own_space_and_nobody_else_does(
    sql: psycopg.Connection, team: dict[str, int]
) -> None:
    ana = issue(sql, "ana", "team", ["read", "admin"])
    blind = issue(sql, "blind", "team", ["admin"])
    writer = issue(sql, "eve", "team", ["read", "write", "forget", "review"])
    theirs, number = add(sql, name="rival"), uuid4()
    remember(sql, "Hidden", team["rival"])
    with log_in(sql, APP) as server:
        mine = add(server, name="team", content=True, credential=ana)
        assert [row[1] for row in call(server, "list_webhooks", credential=ana)] == [mine]
        assert claim(server, number, credential=ana) == []
        for credential, code in ((writer, "TR011"), (None, "TR011"), (b"x" * 32, "TR010")):
            given: dict[str, Any] = {"credential": credential}
            assert refuse(server, "list_webhooks", **given) == code
            assert refuse(server, "add_webhook", name="team", url=URL, **given) == code
            given |= {"claim": number, "hosts": HOSTS, "max_rows": 8}
            assert refuse(server, "claim_webhooks", **given) == code
        given = {"url": URL, "content": True}
        assert refuse(server, "add_webhook", name="rival", **given, credential=ana) == "TR011"
        assert refuse(server, "add_webhook", name="team", **given, credential=blind) == "TR011"
        foreign = {"space": team["rival"], "hook": theirs, "credential": ana}
        for function in ("read_webhook", "remove_webhook", "resume_webhook"):
            assert refuse(server, function, **foreign) == "TR011"
            assert refuse(server, function, **{**foreign, "space": team["team"]}) == "TR102"
        foreign["claim"] = number
        assert refuse(server, "next_webhook_events", **foreign) == "TR011"
        assert refuse(server, "fail_webhook", **foreign, error="x") == "TR011"
        assert read(server, theirs, number, space=team["team"], credential=ana) == []


def test_events_are_sent_only_while_server_and_author_have_the_right_to_them(
    sql: psycopg.Connection, team: dict[str, int]
) -> None:
    ana = issue(sql, "ana", "team", ["read", "admin"])
    gate = issue(sql, "gate", "team", ["admin"])
    root = issue(sql, "root", "team", ["read", "admin"])
    number = uuid4()
    with log_in(sql, APP) as server:
        hook = add(server, name="team", content=True, credential=ana)
        remember(sql, "Ada", team["team"])
        assert claim(server, number, credential=gate) == []  # it must not read the texts
        call(sql, "grant_access", actor="ana", space="team", scopes=["admin"])
        assert claim(server, number, credential=root) == []
        assert sql.execute("select state, queue from list_webhooks()").fetchall() == [
            ("not allowed", 2)
        ]
        call(sql, "grant_access", actor="ana", space="team", scopes=["read", "admin"])
        call(sql, "archive_space", name="team")
        assert refuse(server, "list_webhooks", credential=root) == "TR011"
        call(sql, "archive_space", name="team", archived=False)
        assert claim(server, number, credential=root) == [hook]
        given: dict[str, Any] = {"space": team["team"], "credential": root}
        for actor in ("ana", "root"):  # while it delivers
            call(sql, "grant_access", actor=actor, space="team", scopes=["admin"])
            assert read(server, hook, number, **given) == []
            call(sql, "grant_access", actor=actor, space="team", scopes=["read", "admin"])
            assert len(read(server, hook, number, **given)) == 2
        call(sql, "revoke_access", actor="root", space="team")
        given |= {"hook": hook, "claim": number}
        assert refuse(server, "next_webhook_events", **given) == "TR011"


def test_no_login_reads_a_secret_even_with_a_grant_by_mistake(sql: psycopg.Connection) -> None:
    add(sql)
    for role in (APP, ANALYST):
        with log_in(sql, role) as login, pytest.raises(psycopg.errors.InsufficientPrivilege):
            login.execute("select secret from webhook")
    sql.execute("grant select on webhook to textrawl_app, textrawl_analyst")
    for role in (APP, ANALYST):
        with log_in(sql, role) as login:
            assert login.execute("select secret from webhook").fetchall() == []


def test_texts_of_proposals_and_of_documents_are_never_sent(sql: psycopg.Connection) -> None:
    hook, number = add(sql, content=True), uuid4()
    author = issue(sql, "agent", "default", ["read", "propose"])
    reviewer = issue(sql, "ana", "default", ["read", "write", "review"])
    fact = {"entity": "Ada", "type": "person", "observation": "may like tea"}
    with log_in(sql, APP) as server:
        call(server, "remember_fact", **fact, credential=author)
        [(proposal,)] = sql.execute("select id from proposal").fetchall()
        given = {"proposals": [str(proposal)], "decision": "accept", "credential": reviewer}
        assert claim(sql, number) == [hook]
        [(_, body)] = call(sql, "next_webhook_events", space=1, hook=hook, claim=number)
        assert json.loads(body)["type"] == "memory.proposed"
        assert json.loads(body)["data"]["proposal_id"] == str(proposal)
        assert "tea" not in body
        assert "Ada" not in body
        call(server, "decide_proposals", **given)
    bodies = [
        body for _, body in call(sql, "next_webhook_events", space=1, hook=hook, claim=number)
    ]
    assert "memory.decided" in {json.loads(body)["type"] for body in bodies}
    assert any("may like tea" in body for body in bodies)


def test_a_webhook_keeps_its_place_in_a_cluster_that_counts_anew(sql: psycopg.Connection) -> None:
    hook, number = add(sql), uuid4()
    remember(sql, "Old")
    assert claim(sql, number) == [hook]
    rows = read(sql, hook, number)
    assert read(sql, hook, number, rows[0][0]) == rows[1:]
    # As pg_restore leaves it: the numbers of a cluster that had come much further.
    sql.execute("alter table event disable trigger user")
    sql.execute(
        "update event set transaction = (transaction::text::bigint + 5000000000)::text::xid8"
    )
    sql.execute("alter table event enable trigger user")
    sql.execute(
        "update webhook set transaction = (transaction::text::bigint + 5000000000)::text::xid8,"
        " claimed_until = null"
    )
    remember(sql, "New")
    assert claim(sql, number) == [hook]
    assert [action for _, action in read(sql, hook, number)] == [
        "remembered",
        "created",
        "remembered",
    ]


def test_a_write_reads_no_page_of_the_webhooks(sql: psycopg.Connection) -> None:
    for _ in range(20):
        add(sql)

    def count_reads(table: str) -> int:
        """The scans of a table, and its new rows, since this session began or was last counted."""
        row = sql.execute(
            "select seq_scan + idx_scan + n_tup_ins from pg_stat_xact_all_tables"
            " where relname = %s and schemaname = 'textrawl'",
            (table,),
        ).fetchone()
        return row[0] if row else 0

    with sql.transaction():
        before = count_reads("webhook"), count_reads("event")
        remember(sql, "Ada")
        call(sql, "relate_entities", from_entity="Ada", relation="knows", to_entity="Bo")
        call(sql, "forget_entity", entity="Ada")
        assert count_reads("webhook") == before[0]
        assert count_reads("event") >= before[1] + 4
