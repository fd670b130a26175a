"""mem0 itself as the oracle, and the example of its own README with only the import changed."""

import asyncio
import json
import os
import random
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import metadata
from io import StringIO

os.environ["MEM0_TELEMETRY"] = "False"

import mem0

from textrawl_client.adapters.mem0 import AsyncMemory, Memory

SCOPES = [
    {"user_id": "ada"},
    {"user_id": "ben"},
    {"user_id": "ada", "agent_id": "cook"},
    {"user_id": "ada", "run_id": "7"},
]
FILTERS = [
    {"user_id": "ada"},
    {"user_id": "ben"},
    {"agent_id": "cook"},
    {"user_id": "ada", "agent_id": "cook"},
    {"user_id": "ada", "category": "food"},
    {"user_id": "ada", "rank": {"gte": 3}},
    {"user_id": "*", "AND": [{"category": "food"}, {"rank": {"lt": 4}}]},
    {"user_id": "ada", "category": {"in": ["food", "work"]}},
]
CHANGES = ("memory", "metadata", "role", "actor_id", "user_id", "agent_id", "run_id", "hash")


class SameVector(BaseHTTPRequestHandler):
    """The embeddings that mem0 asks OpenAI for: no search of it is compared."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        data = [{"index": place, "embedding": [0.5] * 1536} for place, _ in enumerate(texts)]
        body = json.dumps({"object": "list", "data": data, "model": "m", "usage": {}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def open_oracle(url: str) -> mem0.Memory:
    embedder = {"model": "m", "api_key": "none", "openai_base_url": url, "embedding_dims": 1536}
    store = {"path": "qdrant", "embedding_model_dims": 1536}
    return mem0.Memory.from_config(
        {
            "embedder": {"provider": "openai", "config": embedder},
            "vector_store": {"provider": "qdrant", "config": store},
        }
    )


def compare(ours: Memory, oracle: mem0.Memory) -> int:
    """Make the same changes, and return the number of lists that are compared."""
    chance, pairs, both = random.Random(5), [], (ours, oracle)
    for number in range(60):
        action = chance.choice(("add", "add", "update", "delete", "delete all"))
        if action == "add":
            pairs += _add(chance, number, both)
        elif action == "delete all" and number % 5 == 0:
            scope = chance.choice(SCOPES)
            assert ours.delete_all(**scope) == oracle.delete_all(**scope)
        elif pairs:
            change = {"text": f"new {number}", "metadata": chance.choice((None, {"rank": 9}))}
            one, other = (
                _try(m.update, id_, **change) if action == "update" else _try(m.delete, id_)
                for m, id_ in zip(both, chance.choice(pairs), strict=True)
            )
            assert one == other
        for first, second in pairs[-6:]:
            assert _cut(ours.get(first)) == _cut(oracle.get(second))
            assert _cut(ours.history(first)) == _cut(oracle.history(second)), first
        for asked in FILTERS:
            found, wanted = (m.get_all(filters=dict(asked), top_k=500) for m in both)
            assert _sort(found) == _sort(wanted), (asked, found, wanted)
    for wrong in ({}, {"user_id": " "}, {"user_id": "a b"}):
        assert _try(ours.get_all, filters=wrong) == _try(oracle.get_all, filters=wrong) == "refused"
    return 60 * len(FILTERS)


def _add(chance, number, both):
    """Add the same messages, and return the ids in both."""
    scope = chance.choice(SCOPES)
    about = {"rank": number % 6, "category": chance.choice(("food", "work"))}
    told = [
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": f"text {number}", "name": "Ada B."},
        {"role": "assistant", "content": "same text"},
    ]
    added = [m.add(told, infer=False, metadata=dict(about), **scope) for m in both]
    assert _cut(added[0]) == _cut(added[1]), added
    return zip(*([one["id"] for one in each["results"]] for each in added), strict=True)


def _try(method, *args, **options):
    try:
        return method(*args, **options)
    except ValueError:
        return "refused"


def _cut(answer):
    """Return an answer without ids, times and members that are None."""
    if isinstance(answer, list):
        return [_cut(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    gone = ("id", "memory_id", "created_at", "updated_at")
    return {k: _cut(v) for k, v in answer.items() if k not in gone and v is not None}


def _sort(found):
    return sorted(_cut(found)["results"], key=lambda one: json.dumps(one, sort_keys=True))


def keep_apart(ours: Memory) -> None:
    """Of 200 users with like facts, each finds the own one; expired memories are not shown."""
    for number in range(200):
        ours.add(f"My favourite tea is number {number}", user_id=f"u{number}", infer=False)
    for number in range(0, 200, 10):
        found = ours.search("favourite tea", filters={"user_id": f"u{number}"})["results"]
        assert [one["memory"] for one in found] == [f"My favourite tea is number {number}"], found
    [old] = ours.add("was here", user_id="eve", expiration_date="2020-01-31")["results"]
    assert ours.get_all(filters={"user_id": "eve"}) == {"results": []}
    assert len(ours.get_all(filters={"user_id": "eve"}, show_expired=True)["results"]) == 1
    ours.update(old["id"], expiration_date=None)
    assert len(ours.get_all(filters={"user_id": "eve"})["results"]) == 1
    again = [ours.add("twice told", user_id="eve")["results"] for _ in range(2)]
    assert [len(each) for each in again] == [1, 0]
    ours.reset()
    assert ours.search("tea", filters={"user_id": "u1"}) == {"results": []}


async def wait() -> None:
    """The methods of AsyncMemory are awaited."""
    ours = AsyncMemory(namespace=("mem0", "awaited"))
    await ours.add([{"role": "user", "content": "I like green tea"}], user_id="ada")
    [found] = (await ours.search("which tea?", filters={"user_id": "ada"}))["results"]
    assert found["memory"] == "I like green tea"


def run_readme() -> str:
    """Run the example of mem0's README as it is, but for the import. Return what it prints."""
    text = metadata("mem0ai").get_payload() or metadata("mem0ai")["Description"]
    [example] = [
        each for each in re.findall(r"```python\n(.*?)```", text, re.S) if "chat_with" in each
    ]
    example = example.replace("from mem0 import", "from textrawl_client.adapters.mem0 import")
    sys.stdin, shown, out = (
        StringIO("I love green tea\nWhat do I love?\nexit\n"),
        StringIO(),
        sys.stdout,
    )
    sys.stdout = shown
    exec(example, {"__name__": "__main__"})  # noqa: S102 - the example that the package documents
    sys.stdout = out
    return shown.getvalue()


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SameVector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ours = Memory(namespace=("mem0", "compared"))
    compared = compare(ours, open_oracle(f"http://127.0.0.1:{server.server_port}/v1"))
    keep_apart(ours)
    asyncio.run(wait())
    server.shutdown()
    print(run_readme())
    print(f"{compared} lists as in mem0")


main()
