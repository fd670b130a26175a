"""Writes of other kinds than facts: items, entries, proposals, uploads, commands, summaries.

They go to a space of their own. A writer repeats its deed until the deed is acknowledged, and then
notes what has to be stored: a key, and the text that is stored under it, or None if nothing may be.
"""

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta
from hashlib import sha256
from typing import Any, LiteralString

import anyio
import httpx2
import psycopg
from anyio import to_thread

from benchmarks.chaos.ledger import Ledger
from benchmarks.chaos.servers import PATIENCE, HttpServer, Place
from benchmarks.chaos.writers import Doer, Send, Writer
from tests.explorer.visiting import Browser
from textrawl.access.access_token import hash_token

SPACE, GRAPH = "deeds", "shelf"
_REST = 10.0  # seconds between two deeds of commands, each of which loads Python
_KILLED = 0.2  # the share of commands that are killed
_UPLOADED = "Stored 1 document."
_KNOWN = "1 file known already."

# The stored text of each key, by the kind of the deed.
STORED: dict[str, LiteralString] = {
    "item": "select key, value ->> 'text' from memory_items where namespace[1] = 'chaos'",
    "entry": "select d.path, v.content from document d"
    " join document_version v on (v.space_id, v.document_id, v.version)"
    " = (d.space_id, d.id, d.version) where d.kind = 'journal'",
    "proposal": "select content, content from proposal where finding is null",
    "upload": "select label, content_hash from source where content_hash is not null",
    "finding": "select id::text, finding from proposal where finding is not null",
    "erasure": "select name, 'there' from entity where name like 'Person %'"
    " union all select split_part(content, ' owns', 1), 'there' from observation"
    " where content like 'Person % owns %'",
    "import": "select content, content from fact",
    "summary": "select e.name, s.content from summary_clause s"
    " join entity e on (e.space_id, e.id) = (s.space_id, s.entity_id)",
}
# Rows of which a half is missing.
HALF: tuple[LiteralString, ...] = (
    "select count(*) from item i where not exists (select from document d"
    " where (d.space_id, d.id) = (i.space_id, i.document_id))",
    "select count(*) from chunk c where not exists (select from observation o"
    " where (o.space_id, o.id) = (c.space_id, c.observation_id))",
    "select count(*) from source s where s.content_hash is not null and s.chunks <> ("
    " select count(*) from observation o"
    " where (o.space_id, o.whole) = (s.space_id, s.document_id))",
    "select count(*) from summary_clause c where not exists (select from fact o"
    " where (o.space_id, o.id) = (c.space_id, c.observation_id))",
    "select count(*) from erasure e where not exists (select from event v"
    " where v.space_id = e.space_id and v.action = 'erased')",
    "select count(*) from (select 1 from proposal where finding is not null"
    " group by space_id, finding, least(one, other), greatest(one, other)"
    " having count(*) > 1) twice",
)


class ItemWriter(Writer):
    """Puts five items at once, and deletes one of the five before, all or none."""

    _former: str | None = None

    async def act(self) -> None:
        """Store a batch."""
        texts = [self.author.write_text() for _ in range(5)]
        keys = [text.rpartition(", ")[2] for text in texts]
        place = ["chaos", self.author.name]
        arguments: dict[str, Any] = {
            "items": [
                {"namespace": place, "key": key, "value": {"text": text}}
                for key, text in zip(keys, texts, strict=True)
            ],
            "delete": [{"namespace": place, "key": self._former}] if self._former else [],
        }
        await self.call("put_items", arguments)
        for key, text in zip(keys, texts, strict=True):
            self.ledger.keep("item", key, text)
        if self._former:
            self.ledger.keep("item", self._former, None)
        self._former = keys[0]


class EntryWriter(Writer):
    """Records journal entries, as the capture of sessions does."""

    async def act(self) -> None:
        """Store an entry."""
        text = f"{self.author.write_text()}. {self.author.write_text()}."
        slug = f"{self.author.name} {self.author.number}".replace(" ", "-")
        day = date(2026, 1, 1) + timedelta(days=self.author.number % 300)
        given = {"granularity": "significant", "slug": slug, "date": day.isoformat()}
        answer = await self.call(
            "memory_create", {**given, "content": text, "instanceId": "laptop"}
        )
        self.ledger.keep("entry", answer["path"], text)


class Proposer(Writer):
    """Proposes facts, because its token cannot write."""

    async def act(self) -> None:
        """Propose a fact."""
        text = self.author.write_text()
        fact = {"entityName": self.author.name, "entityType": "person", "observation": text}
        await self.call("remember_fact", fact)
        self.ledger.keep("proposal", text, text)


class Uploader(Doer):
    """Uploads files on a page of the explorer, and signs in again after each fault."""

    def __init__(self, name: str, ledger: Ledger, server: HttpServer, token: str) -> None:
        super().__init__(name, ledger)
        self._server, self._token = server, token
        self._browser: Browser | None = None

    async def run(self) -> None:
        """Act with one HTTP client."""
        async with httpx2.AsyncClient(timeout=PATIENCE) as self._http:
            await super().run()

    async def act(self) -> None:
        """Upload a new file."""
        text = self.author.write_text()
        name = f"{self.author.number}.md"

        async def attempt() -> bool | None:
            try:
                return await self._upload(name, text.encode()) or None
            except (httpx2.HTTPError, AssertionError, KeyError, IndexError) as error:
                self.ledger.errors[f"upload: {type(error).__name__}"] += 1
                self._browser = None
                return None

        await self.persist(attempt)
        self.ledger.keep("upload", name, sha256(text.encode()).hexdigest())

    async def _upload(self, name: str, text: bytes) -> bool:
        if self._browser is None:
            root = f"http://127.0.0.1:{self._server.place.port}"
            browser = Browser(root, self._http)
            await browser.sign_in(self._token)
            await browser.get("documents", space=GRAPH)
            self._browser = browser
        fields = {"form_token": self._browser.form_token, "confirmed": "1", "space": GRAPH}
        sent = await self._browser.send("upload", fields, files=[("file", (name, text))])
        told = (await self._browser.follow(sent)).text
        return _UPLOADED in told or _KNOWN in told


class Commander(Doer):
    """Runs commands of textrawl, and kills some of them."""

    def __init__(self, name: str, ledger: Ledger, place: Place) -> None:
        super().__init__(name, ledger)
        self.place = place
        self._dice = random.Random(name)  # noqa: S311 - the same deeds in every run

    async def rest(self) -> None:
        """Wait for some seconds, or until the run ends."""
        with anyio.move_on_after(_REST):
            while not self.stopping:  # noqa: ASYNC110 - set by the run
                await anyio.sleep(0.2)

    async def command(self, *arguments: str) -> str:
        """Repeat a command until it succeeds, and return what it wrote."""

        async def attempt() -> str | None:
            code, written = await self.run_once(arguments)
            if code == 0:
                return written
            last = written.strip().splitlines()[-1:] or ["killed"]
            self.ledger.errors[f"{arguments[0]}: {last[0][:90]}"] += 1
            return None

        return await self.persist(attempt)

    async def run_once(self, arguments: Sequence[str]) -> tuple[int | None, str]:
        """Run a command, which is perhaps killed, and return its exit code and output."""
        pipes = {"stdin": None, "stdout": asyncio.subprocess.PIPE}
        process = await self.place.start(*arguments, merged=True, **pipes)
        patience = self._dice.uniform(0.3, 2) if self._dice.random() < _KILLED else PATIENCE
        assert process.stdout is not None
        written = b""
        with anyio.move_on_after(patience):
            async for part in process.stdout:
                written += part
            await process.wait()
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            with anyio.CancelScope(shield=True):
                await process.wait()
        await process.aclose()
        return process.returncode, written.decode(errors="replace")


class Tidier(Commander):
    """Stores questions with their answers, which `textrawl tidy` then finds."""

    async def act(self) -> None:
        """Store three questions with their answers, and propose to end the questions."""
        for _ in range(3):
            words = self.author.write_text().split()[:5]
            told = f"{' '.join(words)} {self.author.number}"
            for text in (f"Open question: who paints {told}?", f"Nils paints {told}"):
                name = f"Question {self.author.number}"
                await self.command("remember", name, text, "--space", SPACE)
        told = await self.command("tidy", "--apply", "--json", "--space", SPACE)
        found, _ = json.JSONDecoder().raw_decode(told[told.index("[") :])
        for row in found:  # nothing if the clock was set between a question and its answer
            self.ledger.keep("finding", row["proposal_id"], row["finding"])


class Eraser(Commander):
    """Stores facts about a person, and erases the person."""

    async def act(self) -> None:
        """Store and erase a person."""
        name = f"Person {self.author.number} {self.author.write_text().split()[0]}"
        for _ in range(2):
            text = f"{name} owns {self.author.write_text()}"
            await self.command("remember", name, text, "--space", SPACE)
        file = self.place.folder / "receipts" / f"{self.author.number}.receipts.json"
        file.parent.mkdir(exist_ok=True)
        await self.command("erase", name, "--space", SPACE, "--yes", "--receipt", str(file))
        self.ledger.keep("erasure", name, None)


class Importer(Commander):
    """Imports an export of mem0, and takes every second import back."""

    async def act(self) -> None:
        """Import twenty facts."""
        number = self.author.number
        texts = [self.author.write_text() for _ in range(20)]
        file = self.place.folder / f"import-{number}.json"
        memories = [
            {"id": f"{number}-{place}", "memory": text, "user_id": f"user {number}"}
            for place, text in enumerate(texts)
        ]
        file.write_text(json.dumps({"results": memories}))
        former = await self._list_imports()
        await self.command("import", str(file), "--from", "mem0", "--space", SPACE, "--yes")
        undone = number % 40 == 0
        if undone:
            for run in await self._list_imports() - former:
                await self._take_back(run)
        for text in texts:
            self.ledger.keep("import", text, None if undone else text)

    async def _list_imports(self) -> set[str]:
        """Return the ids of the imports that were not taken back."""
        lines = (await self.command("import", "--list")).splitlines()
        rows = [line.split("\t") for line in lines if "undone" not in line]
        return {row[0] for row in rows if "mem0" in row}

    async def _take_back(self, run: str) -> None:
        async def attempt() -> bool | None:
            await self.run_once(("undo", "--import", run, "--yes"))
            return run not in await self._list_imports() or None

        await self.persist(attempt)


class Summarizer(Doer):
    """Makes summaries with SQL, as a server does with the answer of an LLM."""

    def __init__(self, name: str, ledger: Ledger, conninfo: Callable[[], str], token: str) -> None:
        super().__init__(name, ledger)
        self._conninfo, self._credential = conninfo, hash_token(token)

    async def act(self) -> None:
        """Store ten facts about an entity, and a clause that quotes the first."""
        name = f"Summed {self.author.number}"
        texts = [self.author.write_text() for _ in range(10)]

        async def attempt() -> bool | None:
            try:
                await to_thread.run_sync(self._sum_up, name, texts)
            except (psycopg.Error, AssertionError) as error:
                self.ledger.errors[f"SQL: {type(error).__name__}"] += 1
                return None
            return True

        await self.persist(attempt)
        self.ledger.keep("summary", name, texts[0][:150])

    async def rest(self) -> None:
        """Leave the processor to others."""
        await anyio.sleep(0.2)

    def _sum_up(self, name: str, texts: list[str]) -> None:
        with psycopg.connect(self._conninfo(), autocommit=True, connect_timeout=5) as app:
            app.execute("set search_path = textrawl, public")
            app.execute("set statement_timeout = '20s'")
            facts = [{"entity": name, "observation": text} for text in texts]
            app.execute(
                "select count(*) from build_knowledge(%s, credential => %s)",
                (json.dumps(facts), self._credential),
            )
            app.execute("select queue_summaries(credential => %s)", (self._credential,))
            found = app.execute(
                "select e.id, min(o.id::text) filter (where o.content = %s),"
                " (summarized_facts(e.space_id, e.id)).hash"
                " from entity e join fact o on (o.space_id, o.entity_id) = (e.space_id, e.id)"
                " where e.name = %s group by e.space_id, e.id",
                (texts[0], name),
            ).fetchone()
            assert found is not None
            clause = [{"fact": found[1], "content": texts[0][:150]}]
            app.execute(
                "select store_summary(%s, %s, %s, 'stand-in', credential => %s)",
                (found[0], found[2], json.dumps(clause), self._credential),
            )


def build_writers(
    http: HttpServer,
    send: Callable[[str], Send],
    tokens: dict[str, str],
    ledger: Ledger,
    conninfo: Callable[[], str],
) -> list[Doer]:
    """Return a writer of each kind."""
    place = http.place
    return [
        *(ItemWriter("HTTP", f"keeper {n}", send("writer"), ledger) for n in range(3)),
        EntryWriter("HTTP", "diarist", send("writer"), ledger),
        Proposer("HTTP", "proposer", send("proposer"), ledger),
        Uploader("uploader", ledger, http, tokens["writer"]),
        Tidier("tidier", ledger, place),
        Eraser("eraser", ledger, place),
        Importer("importer", ledger, place),
        Summarizer("summarizer", ledger, conninfo, tokens["writer"]),
    ]
