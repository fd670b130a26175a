"""The demo: its facts, its calls, their costs, and what it prints."""

import json
import re
import shlex
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import anyio.to_thread
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Implementation, TextContent
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.demo_team import tell_team
from textrawl.connect.clients import CLIENTS, find_script
from textrawl.embedded.cluster import run_embedded
from textrawl.environment import write_name
from textrawl.errors import InternalError, StartRefused
from textrawl.host.running import end_running
from textrawl.settings import Format, read_foreign_environment
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import SearchReply
from textrawl.values.text import MOST_TOKENS
from textrawl.wire.replies import Renderer, Reply, Written
from textrawl.wire.token_counter import ENCODING, Counter, choose_counter
from textrawl_client.unix_socket import build_address

_NO_BUDGET = 1_000_000


@dataclass(frozen=True)
class DemoCost:
    """The tokens of one answer as compact text, as lines, as verbose text and as indented JSON."""

    compact: int
    lines: int
    verbose: int
    pretty: int


def write_reply(reply: Reply, form: Format, counter: Counter) -> str:
    """Return `reply` as text in the format `form`, without a budget."""
    return read_text(write_whole(reply, form, counter))


def write_whole(
    reply: Reply, form: Format, counter: Counter, *, structured: bool = False
) -> Written:
    """Return all of `reply` in the format `form` with its cost, without a budget."""
    renderer = Renderer(format=form, structured=structured, counter=counter, budget=_NO_BUDGET)
    return renderer.write(reply)


def read_text(written: Written) -> str:
    """Return the text of a written reply."""
    [block] = written.content.build_result().content
    assert isinstance(block, TextContent)  # noqa: S101 - a reply is text
    return block.text


_MOST = 50  # facts, or relations, that one call of build_knowledge accepts

Item = dict[str, Any]


@dataclass(frozen=True)
class DemoMaterial:
    """Facts and relations for build_knowledge, questions, and an entity to look up."""

    facts: list[Item]
    relations: list[Item]
    questions: list[str]
    entity: str

    def batches(self) -> Iterator[dict[str, list[Item]]]:
        """Yield the arguments of each call of build_knowledge, facts before relations."""
        for start in range(0, len(self.facts), _MOST):
            yield {"facts": self.facts[start : start + _MOST]}
        for start in range(0, len(self.relations), _MOST):
            yield {"relations": self.relations[start : start + _MOST]}

    def entity_names(self) -> set[str]:
        """Return the case-folded names of all entities that these facts and relations create."""
        ends = [edge[key] for edge in self.relations for key in ("fromEntity", "toEntity")]
        return {str(name).casefold() for name in [*ends, *(f["entityName"] for f in self.facts)]}


def read_material() -> DemoMaterial:
    """Return the material that ships with the package."""
    file = resources.files("textrawl.cli") / "postgresql.json"
    return DemoMaterial(**json.loads(file.read_text(encoding="utf-8")))


_LONGEST_CALL = 60.0  # seconds


@dataclass(frozen=True)
class ShownAnswer:
    """The text and the structured content of a tool's result."""

    text: str
    structured: dict[str, Any]


class DemoSession:
    """An open connection to the demonstration's server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> ShownAnswer:
        """Call `tool` and return its answer. Raises InternalError if the tool fails."""
        result = await self._client.call_tool(tool, arguments)
        text = "".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error:
            raise InternalError(f"{tool} of the demonstration's server answered {text}")
        return ShownAnswer(text, cast("dict[str, Any]", result.structured_content))


class DemoServerFailed(StartRefused):
    """The server did not start, for example because another version made its memory."""


@asynccontextmanager
async def open_session(data_dir: Path) -> AsyncGenerator[DemoSession]:
    """Start a server with its memory in `data_dir` and no other settings, and connect to it.

    Raises StartRefused when the folder cannot be used, and DemoServerFailed.
    """
    # This process also uses Postgres, so the server does not stop Postgres when the server ends.
    # The client would not wait until Postgres has stopped.
    async with run_embedded(data_dir):
        with tempfile.TemporaryDirectory(prefix="textrawl-demo-") as empty:
            log = Path(empty) / "stderr"
            try:
                with log.open("w", encoding="utf-8") as errors:
                    transport = stdio_client(_describe_server(data_dir, empty), errlog=errors)
                    async with Client(
                        transport,
                        read_timeout_seconds=_LONGEST_CALL,
                        client_info=Implementation(
                            name="textrawl demo", version=version("textrawl")
                        ),
                    ) as client:
                        yield DemoSession(client)
            except* MCPError as group:
                lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
                reason = lines[-1] if lines else "it ended without an error message"
                raise DemoServerFailed(
                    f"The demonstration's server failed in {data_dir}: {reason}. To begin anew, "
                    "name another folder with --data-dir"
                ) from group
            finally:
                # The host would have the demonstration's memory open for some minutes more.
                await anyio.to_thread.run_sync(_end_host, data_dir)


def _end_host(data_dir: Path) -> None:
    end_running(build_address(data_dir.absolute(), {}).folder)


def _describe_server(data_dir: Path, empty: str) -> StdioServerParameters:
    """Return the command and environment of the server. The folder `empty` has no .env file."""
    environment = {
        write_name("data_dir"): str(data_dir.absolute()),
        write_name("embedding_provider"): "local",
        write_name("space"): "default",  # the questions are about PostgreSQL, and not the team
        "XDG_CONFIG_HOME": empty,
    }
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "textrawl", "serve"],
        env=read_foreign_environment() | environment,
        cwd=empty,
    )


FACTS_SHOWN = 3
_PAGE = 100


@dataclass(frozen=True)
class Stored:
    """The numbers of stored facts and relations, how many are new, and the time for storing."""

    facts: int
    new_facts: int
    relations: int
    new_relations: int
    calls: int
    seconds: float


@dataclass(frozen=True)
class DemoAnswer:
    """The answer to one question as compact text and as lines, with its cost and its time."""

    question: str
    text: str
    lines: str
    cost: DemoCost
    milliseconds: float


@dataclass(frozen=True)
class DemoResult:
    """The result of a demonstration. `encoding` names the encoding of its token counts."""

    stored: Stored
    answers: list[DemoAnswer]
    encoding: str
    seconds: float


async def run_demo(data_dir: Path, report: Callable[[str, int, int | None], object]) -> DemoResult:
    """Run the demonstration on the memory in `data_dir`, which is created if needed.

    `report` gets the current step, the number of finished items, and the number of all items or
    None. Raises StartRefused if the folder cannot be used or has a memory with other entities.
    """
    start = time.perf_counter()
    material, counter = read_material(), choose_counter()
    report("Starting Postgres and the server", 0, None)
    async with open_session(data_dir) as session:
        await _require_demo_memory(session, material, data_dir)
        stored = await _store(session, material, report)
        answers = [await _ask(session, question, counter) for question in material.questions]
        answers.append(await _look_up(session, material.entity, counter))
    report("Telling the history of a team", 0, None)
    await tell_team(data_dir)
    return DemoResult(stored, answers, ENCODING, time.perf_counter() - start)


async def _require_demo_memory(
    session: DemoSession, material: DemoMaterial, data_dir: Path
) -> None:
    """Refuse a memory with other entities, because the demonstration must not change it."""
    expected, offset, total = material.entity_names(), 0, 1
    while offset < total:
        page = await session.call(
            "query_memory", mode="list", limit=_PAGE, offset=offset, maxTokens=MOST_TOKENS
        )
        for entity in page.structured["entityList"]:
            if entity["name"].casefold() not in expected:
                raise StartRefused(
                    f"{data_dir} holds a memory that is not the demonstration's (it has "
                    f"{entity['name']!r}); nothing was stored. Choose another folder with "
                    "--data-dir"
                )
        total, offset = page.structured["total"], offset + _PAGE


async def _store(
    session: DemoSession, material: DemoMaterial, report: Callable[[str, int, int | None], object]
) -> Stored:
    facts = relations = calls = done = 0
    total_items = len(material.facts) + len(material.relations)
    start = time.perf_counter()
    for batch in material.batches():
        report("Storing facts and relations", done, total_items)
        answer = await session.call("build_knowledge", **batch)
        facts += answer.structured["factsCreated"]
        relations += answer.structured["relationsCreated"]
        calls += 1
        done += sum(map(len, batch.values()))
    report("Asking", done, total_items)
    seconds = time.perf_counter() - start
    return Stored(len(material.facts), facts, len(material.relations), relations, calls, seconds)


async def _ask(session: DemoSession, question: str, counter: Counter) -> DemoAnswer:
    start = time.perf_counter()
    answer = await session.call("query_memory", mode="search", query=question, limit=FACTS_SHOWN)
    seconds = time.perf_counter() - start
    reply = SearchReply.read(answer.structured, question)
    return _describe(question, answer, reply, counter, seconds)


async def _look_up(session: DemoSession, entity: str, counter: Counter) -> DemoAnswer:
    start = time.perf_counter()
    answer = await session.call("query_memory", mode="entity", entityName=entity)
    seconds = time.perf_counter() - start
    reply = EntityReply.model_validate(answer.structured)
    return _describe(f"everything about {entity}", answer, reply, counter, seconds)


def _describe(
    question: str, answer: ShownAnswer, reply: Reply, counter: Counter, seconds: float
) -> DemoAnswer:
    # `reply` is the same answer before it was formatted.
    lines, verbose = (write_reply(reply, form, counter) for form in ("lines", "verbose"))
    pretty = json.dumps(answer.structured, ensure_ascii=False, indent=2)
    cost = DemoCost(*map(counter.count, (answer.text, lines, verbose, pretty)))
    return DemoAnswer(question, answer.text, lines, cost, seconds * 1000)


_FORMATS = {"lines": "lines", "compact": "compact", "verbose": "verbose", "pretty": "pretty JSON"}
_FACT = re.compile(r"(\d{1,3}) (.+)")  # a line with a fact: its score in hundredths, its text


def draw_demo(console: Console, result: DemoResult, folder: Path) -> None:
    """Draw the counts of stored data, each question with its answer, and the sums of tokens."""
    console.print(_describe_stored(result.stored))
    console.print(
        f"Below are the questions of a model and the answers, with at most {FACTS_SHOWN} facts, in "
        "the format `lines`. The facts about an entity follow its name, each after its score in "
        f"hundredths. The last line counts the tokens ({result.encoding}) of the answer in each "
        "format.\n"
    )
    for number, answer in enumerate(result.answers, 1):
        time = (f"  {answer.milliseconds:.0f} ms", "dim")
        console.print(Text.assemble(f"{number:>2}  ", (answer.question, "bold"), time))
        console.print(_draw_lines(answer.lines))
        counts = [f"{label} {getattr(answer.cost, name):,}" for name, label in _FORMATS.items()]
        console.print(Text(f"       tokens: {', '.join(counts)}", style="green"))
        console.print()
    console.print("The first answer again in `compact`, the format that models get by default:")
    console.print(Text(result.answers[0].text, style="cyan", overflow="fold"))
    console.print()
    console.print(_draw_sums(result))
    milliseconds = sum(answer.milliseconds for answer in result.answers)
    console.print(
        f"\n{len(result.answers)} answers in {milliseconds:.0f} ms, "
        f"everything in {result.seconds:.1f} s. The demonstration's memory stays in"
    )
    console.print(Text(str(folder)), soft_wrap=True)


def _describe_stored(stored: Stored) -> str:
    old_facts, old_relations = (
        stored.facts - stored.new_facts,
        stored.relations - stored.new_relations,
    )
    text = (
        f"Stored {stored.new_facts} facts and {stored.new_relations} relations about PostgreSQL "
        f"in {stored.seconds:.1f} s, by {stored.calls} calls of build_knowledge."
    )
    if old_facts or old_relations:
        text += (
            f" {old_facts} facts and {old_relations} relations exist from an earlier run: nothing "
            "is stored twice."
        )
    return text


def _draw_lines(lines: str) -> Table:
    """Draw one row for each line of an answer. Long lines are wrapped and indented."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=6, justify="right")
    table.add_column()
    for line in lines.splitlines():
        score, content = match.groups() if (match := _FACT.fullmatch(line)) else ("", line)
        table.add_row(score, Text(content, style="cyan", overflow="fold"))
    return table


def _draw_sums(result: DemoResult) -> Table:
    table = Table(title="All answers together", title_justify="left", title_style="bold")
    table.add_column("")
    sums = {name: sum(getattr(answer.cost, name) for answer in result.answers) for name in _FORMATS}
    for label in _FORMATS.values():
        table.add_column(label, justify="right")
    table.add_row("tokens", *(f"{count:,}" for count in sums.values()))
    shares = (f"{100 * count / sums['pretty']:.0f} %" for count in sums.values())
    table.add_row("of pretty JSON", *shares)
    return table


def draw_look(console: Console, folder: Path, *, usual: bool) -> None:
    """Draw the command that opens the demo's memory in a browser."""
    console.print(
        "\n[bold]Look at it:[/] PostgreSQL, and what a team of three wrote in sixty days, in a "
        "browser.\n"
    )
    command = shlex.join([*find_script(), "explore", *(["--demo"] if usual else [])])
    place = "" if usual else f"{write_name('data_dir')}={shlex.quote(str(folder))} "
    console.print(Text(f"{place}{command}", "cyan"), soft_wrap=True)


_NEXT = (
    (["remember", "Ada", "leads QA at Acme"], "Store a fact"),
    (["search", "who leads QA?"], "Find it again"),
    (["explore"], "Look at it in a browser"),
)


def draw_connecting(console: Console) -> None:
    """Draw the commands that connect clients: those that are installed, or else all."""
    installed = [name for name, client in CLIENTS.items() if client.is_installed()]
    console.print("\n[bold]Connect a client[/]. Its memory is new and has no facts of the demo.\n")
    for name in installed or CLIENTS:
        # Write each command without line breaks, so that users can copy it.
        command = Text(shlex.join([*find_script(), "connect", name]), style="cyan")
        console.print(command, soft_wrap=True)
    console.print("\nEach command shows what it would change, and asks first.")
    console.print("\n[bold]Next[/], with your own memory:\n")
    for words, purpose in _NEXT:
        console.print(f"{purpose}:")
        console.print(Text(shlex.join([*find_script(), *words]), "cyan"), soft_wrap=True)
