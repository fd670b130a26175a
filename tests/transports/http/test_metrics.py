"""What Prometheus is told, and that it is told no more."""

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.http_team import ANA, HELLO, METER, Team, bear, gather
from textrawl.server.http.metrics import Metrics

pytestmark = pytest.mark.anyio

Samples = dict[tuple[str, ...], float]


def read(text: str, name: str) -> Samples:
    """Values of one counter or gauge by its labels' values, in the order of the labels' names."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


async def scrape(team: Team, http: httpx2.AsyncClient) -> str:
    answer = await http.get(f"{team.root}/metrics", headers=bear(METER))
    assert answer.status_code == 200
    return answer.text


async def test_every_refusal_is_counted(http: httpx2.AsyncClient) -> None:
    async with gather(rate_limit=2) as team:
        ana = {**bear(ANA), "content-type": "application/json"}
        for headers, content in (
            ({}, b""),
            ({**ana, "host": "evil.example"}, b""),
            ({**ana, "origin": "null"}, b""),
            (ana, b"x" * 2_000_000),
            (ana, b"x"),
            (ana, b""),
        ):
            await http.post(team.mcp, content=content, headers=headers)
        answer = read(await scrape(team, http), "textrawl_http_responses_total")
    counted = {status: count for (route, status), count in answer.items() if route == "mcp"}
    assert counted == {"401": 1, "421": 1, "403": 1, "413": 1, "400": 1, "429": 1}


async def test_what_clients_make_up_becomes_no_label(team: Team, http: httpx2.AsyncClient) -> None:
    canary = "canary-7f3a"
    for path in (f"/{canary}", f"/mcp/{canary}", f"/healthz/{canary}?{canary}={canary}"):
        for token in (canary, ANA):
            headers = {**bear(token), "x-request-id": canary, "user-agent": canary}
            await http.request("PURGE", f"{team.root}{path}", json=HELLO, headers=headers)
    team.metrics.observe_call(canary, canary, 0.1)
    text = await scrape(team, http)
    assert canary not in text
    assert {route for route, _ in read(text, "textrawl_http_responses_total")} <= {
        "mcp", "healthz", "metrics", "other"
    }  # fmt: skip


async def test_calls_are_counted_by_tool_and_outcome_and_timed(
    team: Team, http: httpx2.AsyncClient
) -> None:
    team.metrics.observe_call("introduce", "ok", 0.02)
    team.metrics.observe_call("introduce", "ok", 0.2)
    team.metrics.observe_call("wait", "Database unavailable", 7)
    team.metrics.observe_call("wait", "something of a client", 7)
    text = await scrape(team, http)
    assert read(text, "textrawl_calls_total") == {
        ("ok", "introduce"): 2,
        ("Database unavailable", "wait"): 1,
        ("Failed", "wait"): 1,
    }
    assert read(text, "textrawl_call_seconds_count") == {("introduce",): 2, ("wait",): 2}
    assert read(text, "textrawl_call_seconds_bucket")["0.025", "introduce"] == 1


async def test_what_is_watched_is_read_at_the_time(team: Team, http: httpx2.AsyncClient) -> None:
    state = {"embedding_backlog": 3.0}
    team.metrics.watch(lambda: state)
    assert read(await scrape(team, http), "textrawl_embedding_backlog") == {(): 3}
    state["embedding_backlog"] = 0
    assert read(await scrape(team, http), "textrawl_embedding_backlog") == {(): 0}


def test_two_servers_in_one_process_count_for_themselves() -> None:
    first, second = Metrics(["a"]), Metrics(["a"])
    first.observe_call("a", "ok", 1)
    assert read(first.write().decode(), "textrawl_calls_total") == {("ok", "a"): 1}
    assert read(second.write().decode(), "textrawl_calls_total") == {}
