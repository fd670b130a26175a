"""Everyday questions: the right fact first, or no fact at all.

    python -m benchmarks.everyday [--provider NAME --model NAME] [--open] [--misses] [--documents]
                                  [--json FILE]
    python -m benchmarks.everyday --test [--provider NAME --model NAME] [--json FILE]

The files of benchmarks/support/everyday were written by hand, by somebody who had not read the
search code. A fact has the questions that it answers below it. `&` names another relevant fact:

    Ann (person) | sits at the reception and opens the door at 7:15
    ? who lets the patients in in the morning
    & has the key of the front door
    Ada (person) > works for > Korund Instruments (organization)

- `lives` has facts and questions of a clinic, a family, a band, a joiner, a software team, a
  student and a bakery, all in one memory.
- `unknown` has questions for the same memory that no fact answers. The word before `|` is in no
  fact.
- `one_hop` has relations (`>`), and questions that name an entity and a relation. The right fact is
  about the entity at the other end.
- `german`, `french`, `spanish` and `japanese` have a memory each, whose space has this language.
- `judged` has answers on LoCoMo conversations (`--conversations`), judged by hand. A line has the
  conversation, the position of the question, and positions of facts: `+` is relevant, `-` is not.
- `--first-set` is a JSON file of `facts` and `questions`, where `right` are parts of right facts.

A set whose file is away is skipped. Each memory is filled through an MCP client, and each question
is asked with query_memory, with a limit of 5. `first` and `in 3` are the shares of questions with
a right fact at this place. `none` is the share without a right fact among five, `empty` the share
without any fact. The rows `all scores` use a `minScore` of 0. Questions of every third fact are
`held`: `--open` leaves them out, so that they stay unseen while search is tuned.

With `--documents`, each memory also has a graph with the sessions of the LoCoMo conversations as
documents, up to 100. No question is about them, so the figures should stay as they are without.

`--test` asks only the test half, in the folder `test`: ten lives of other kinds, each in a memory
of its own, with its questions that no fact answers. Nobody tunes search with it, and benchmarks.fit
does not read it, so run it once a release and do not look at its misses.
"""

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import psycopg
from mcp import Client
from pydantic import SecretStr

from benchmarks.recall import DATA, collect_documents
from benchmarks.support.filled_memory import BATCH, embed_all, open_database
from benchmarks.support.place import enrol, open_folder, tell_machine
from textrawl import Settings, create_server
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER

FILES = Path(__file__).parent / "support" / "everyday"
TEST = FILES / "test"
UNKNOWN = "_unknown"  # the end of the name of a file with questions that its life does not answer
FIRST_SET = DATA.with_name("everyday.json")
LANGUAGES = {"german": "german", "french": "french", "spanish": "spanish", "japanese": "simple"}
HELD = 3  # every third fact
ROWS = 5
MOST_DOCUMENTS = 100
BANDS = ((0.9, ">= .9"), (0.7, ".7 - .9"), (0.5, ".5 - .7"), (0.0, "< .5"))

_END = r"(.+) \((\w+)\)"
_FACT = re.compile(rf"{_END} \| (.+)")
_RELATION = re.compile(rf"{_END} > (.+) > {_END}")


class Shown(NamedTuple):
    """A fact of an answer, with its score."""

    text: str
    score: float


@dataclass(frozen=True)
class Asked:
    """A question with parts of its relevant facts.

    `wrong` are the facts judged as not relevant, or None if all others are wrong. `missing` is a
    word of the question that no fact has. `heading` is the line `# ...` above its fact.
    """

    text: str
    held: bool = False
    right: list[str] = field(default_factory=list[str])
    wrong: list[str] | None = None
    missing: str = ""
    heading: str = ""

    def judge(self, shown: Shown) -> bool | None:
        """Return whether the fact is relevant; None if nobody has judged this."""
        if any(part in shown.text for part in self.right):
            return True
        return False if self.wrong is None or shown.text in self.wrong else None


@dataclass(frozen=True)
class Life:
    """Facts and relations as arguments of build_knowledge, and the questions about them."""

    facts: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    relations: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    questions: list[Asked] = field(default_factory=list[Asked])


class Answer(NamedTuple):
    """A question with the facts of its answer, best first."""

    asked: Asked
    shown: list[Shown]

    def has_right(self, rows: int) -> bool:
        """Return whether a right fact is among the first `rows`."""
        return any(self.asked.judge(shown) for shown in self.shown[:rows])


def read_life(name: str) -> Life:
    """Read a file of facts, relations and questions."""
    life, heading = Life(), ""
    for line in (FILES / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("? "):
            held = len(life.facts) % HELD == 0
            right = [life.facts[-1]["observation"]]
            life.questions.append(Asked(line[2:], held, right, heading=heading))
        elif line.startswith("& "):
            life.questions[-1].right.append(line[2:])
        elif found := _FACT.fullmatch(line):
            keys = ("entityName", "entityType", "observation")
            life.facts.append(dict(zip(keys, found.groups(), strict=True)))
        elif found := _RELATION.fullmatch(line):
            keys = ("fromEntity", "fromEntityType", "relation", "toEntity", "toEntityType")
            life.relations.append(dict(zip(keys, found.groups(), strict=True)))
        elif line.startswith("# "):
            heading = line
        elif line:
            raise ValueError(line)
    return life


def read_unknown(name: str = "unknown") -> list[Asked]:
    """Read a file of questions that no fact answers. Every third is held."""
    lines = (FILES / f"{name}.txt").read_text("utf-8").splitlines()
    split = [line.split(" | ") for line in lines]
    return [
        Asked(text, held=place % HELD == 0, missing=word)
        for place, (word, text) in enumerate(split, 1)
    ]


def read_first_set(path: Path) -> Life:
    """Read a set of facts and questions from JSON."""
    content = json.loads(path.read_text("utf-8"))
    questions = [Asked(q["query"], right=q["right"]) for q in content["questions"]]
    return Life(content["facts"], [], questions)


def read_judged(path: Path) -> list[Life]:
    """Return the facts of each conversation, and its questions with judged facts."""
    lives = {c["id"]: (c, Life(_list_facts(c))) for c in json.loads(path.read_text("utf-8"))}
    for line in (FILES / "judged.txt").read_text("utf-8").splitlines():
        name, place, *marks = line.split()
        conversation, life = lives[name]
        texts = {sign: [_find(conversation, m) for m in marks if m[-1] == sign] for sign in "+-"}
        question = conversation["questions"][int(place)]["question"]
        life.questions.append(Asked(question, right=texts["+"], wrong=texts["-"]))
    return [life for _, life in lives.values()]


def _list_facts(conversation: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {"entityName": entity, "entityType": "person", "observation": text}
        for entity, text in collect_documents(conversation, "facts")
    ]


def _find(conversation: dict[str, Any], mark: str) -> str:
    return conversation["facts"][int(mark[:-1])]["fact"]


def read_sessions(path: Path) -> list[str]:
    """Return the turns of each session of the conversations as a text."""
    texts = list[str]()
    for conversation in json.loads(path.read_text("utf-8")):
        sessions: dict[int, list[str]] = {}
        for turn in conversation["turns"]:
            sessions.setdefault(turn["session"], []).append(f"{turn['speaker']}: {turn['text']}")
        texts += ["\n".join(lines) for lines in sessions.values()]
    return texts[:MOST_DOCUMENTS]


async def store(client: Client, life: Life) -> None:
    """Store the facts and relations with build_knowledge."""
    for name, items in (("facts", life.facts), ("relations", life.relations)):
        for start in range(0, len(items), BATCH):
            batch = {name: items[start : start + BATCH]}
            if (reply := await client.call_tool("build_knowledge", batch)).is_error:
                raise RuntimeError(reply.content)


async def ask(client: Client, asked: Asked, **more: Any) -> Answer:
    """Return the answer to a question, in the form in which a model reads it."""
    arguments = {"mode": "search", "query": asked.text, "limit": ROWS, **more}
    reply = await client.call_tool("query_memory", arguments)
    if reply.is_error:
        raise RuntimeError(reply.content)
    entities = json.loads(reply.content[0].text).get("e", [])  # pyright: ignore
    shown = [Shown(fact["c"], fact["s"]) for entity in entities for fact in entity["m"]]
    return Answer(asked, sorted(shown, key=lambda fact: -fact.score))


@dataclass(frozen=True)
class Run:
    """The cluster, the settings of the embedder, and the questions that count."""

    cluster: Cluster
    chosen: dict[str, Any]
    counts: Callable[[Asked], bool]
    documents: Sequence[str] = ()

    async def measure(
        self, name: str, life: Life, *others: Sequence[Asked], language: str = "english"
    ) -> list[dict[str, list[Answer]]]:
        """Store a life in a new database, and ask its questions and the others."""
        async with open_database(self.cluster, name):
            owner = self.cluster.dsn(OWNER, name)
            settings = Settings(
                database_url=SecretStr(self.cluster.dsn(APP, name)),
                access_token=SecretStr(enrol(owner)),
                toolsets=["memory", "corpus"] if self.documents else ["memory"],
                **self.chosen,
            )
            with psycopg.connect(owner, autocommit=True) as sql:
                sql.execute("set search_path = textrawl, public")
                sql.execute("select change_language('default', %s)", (language,))
                if self.documents:
                    sql.execute("select create_space('shelf', tier => 'public')")
                    sql.execute("select grant_access('bench', 'shelf', '{read,write}')")
                async with Client(create_server(settings)) as client:
                    await store(client, life)
                    await self._shelve(client)
                    await embed_all(sql)
                    sql.execute("select refresh_search_statistics(force => true)")
                    return [await self._ask_all(client, q) for q in (life.questions, *others)]

    async def _shelve(self, client: Client) -> None:
        """Store the documents in a graph of their own, beside the facts."""
        for place, text in enumerate(self.documents, 1):
            given = {"text": text, "label": f"Session {place}", "graphId": "shelf"}
            if (reply := await client.call_tool("remember", given)).is_error:
                raise RuntimeError(reply.content)

    async def _ask_all(self, client: Client, all_: Sequence[Asked]) -> dict[str, list[Answer]]:
        """Ask with the default least score and with none."""
        asked = [question for question in all_ if self.counts(question)]
        return {
            "default": [await ask(client, question) for question in asked],
            "all scores": [await ask(client, question, minScore=0) for question in asked],
        }


Sets = dict[str, dict[str, list[Answer]]]
"""The answers of each set, with the default least score and with all scores."""


async def ask_sets(run: Run, first_set: Life | None, judged: Sequence[Life]) -> Sets:
    """Ask the questions of all sets that were read."""
    sets: Sets = {}
    if first_set:
        [sets["set 1"]] = await run.measure("first", first_set)
    sets["set 2"], sets["unknown"] = await run.measure("lives", read_life("lives"), read_unknown())
    [sets["one hop"]] = await run.measure("one_hop", read_life("one_hop"))
    for name, language in LANGUAGES.items():
        [sets[name]] = await run.measure(name, read_life(name), language=language)
    sets["judged"] = {"default": [], "all scores": []}
    for place, life in enumerate(judged):
        [answers] = await run.measure(f"judged{place}", life)
        for way, found in answers.items():
            sets["judged"][way] += found
    return sets


async def ask_test(run: Run) -> Sets:
    """Ask the questions of the test half: the answers of each life, and its unknown questions."""
    sets: Sets = {}
    for path in sorted(TEST.glob(f"*{UNKNOWN}.txt")):
        name = path.stem.removesuffix(UNKNOWN)
        life, unknown = read_life(f"test/{name}"), read_unknown(f"test/{path.stem}")
        sets[name], sets[name + UNKNOWN] = await run.measure(name, life, unknown)
    return sets


def print_test(sets: Sets) -> dict[str, list[dict[str, Any]]]:
    """Print a row for each life of the test half, and one for their sum."""
    found = {name: sets[name]["default"] for name in sets}
    lives = [name for name in found if name + UNKNOWN in found]
    pairs = [(name, found[name], found[name + UNKNOWN]) for name in lives]
    everything = [answer for _, answers, _ in pairs for answer in answers]
    pairs.append(("all", everything, [answer for *_, unknown in pairs for answer in unknown]))
    rows = [
        {
            "life": name,
            "questions": len(answers),
            "first": share(answers, lambda answer: answer.has_right(1)),
            "in 3": share(answers, lambda answer: answer.has_right(3)),
            "none": share(answers, lambda answer: not answer.has_right(ROWS)),
            "empty": share(answers, lambda answer: not answer.shown),
            "unknown": len(unknown),
            "no fact": share(unknown, lambda answer: not answer.shown),
        }
        for name, answers, unknown in pairs
    ]
    print_table(rows)
    return {"test": rows}


def count_places(name: str, way: str, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the shares of a set of answerable questions as percentages."""
    held = [answer for answer in answers if answer.asked.held]
    row: dict[str, Any] = {"set": name, "scores": way, "questions": len(answers)}
    for label, part in (("", answers), ("held ", held)):
        row[f"{label}first"] = share(part, lambda answer: answer.has_right(1))
        row[f"{label}in 3"] = share(part, lambda answer: answer.has_right(3))
    row["none"] = share(answers, lambda answer: not answer.has_right(ROWS))
    row["empty"] = share(answers, lambda answer: not answer.shown)
    return row


def share(answers: Sequence[Answer], counts: Callable[[Answer], bool]) -> float | None:
    """Return the percentage of the answers that count; None without answers."""
    return 100 * sum(map(counts, answers)) / len(answers) if answers else None


def count_bands(name: str, answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Return a row for each band of scores."""
    facts = [(s.score, a.asked.judge(s)) for a in answers for s in a.shown]
    right = sum(judged is True for _, judged in facts)
    rows = list[dict[str, Any]]()
    above = 1.1
    for least, label in BANDS:
        band = [judged for score, judged in facts if least <= score < above]
        known = [judged for judged in band if judged is not None]
        relevant = sum(known)
        rows.append({"set": name, "band": label, "shown": len(band), "judged": len(known)})
        rows[-1]["relevant"] = 100 * relevant / len(known) if known else None
        rows[-1]["of the right"] = 100 * relevant / right if right else None
        above = least
    return rows


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a table. A cell without a figure is empty."""
    print(f"\n| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}")
    for row in rows:
        values = ("" if value is None else value for value in row.values())
        cells = (f"{value:.1f}" if isinstance(value, float) else str(value) for value in values)
        print(f"| {' | '.join(cells)} |")


def print_sets(sets: Sets, *, misses: bool) -> dict[str, list[dict[str, Any]]]:
    """Print the tables, and return their rows."""
    answerable = [name for name in sets if name not in ("unknown", "judged")]
    everyday = [a for name in ("set 1", "set 2") if name in sets for a in sets[name]["default"]]
    bands = {"everyday": everyday, "judged": sets["judged"]["default"]}
    bands["unknown"] = sets["unknown"]["default"]
    tables = {
        "places": [
            count_places(n, way, found) for n in answerable for way, found in sets[n].items()
        ],
        "unknown": [
            {"scores": way, "questions": len(found), "no fact": share(found, lambda a: not a.shown)}
            for way, found in sets["unknown"].items()
        ],
        "bands": [
            row for name, found in bands.items() if found for row in count_bands(name, found)
        ],
    }
    for rows in tables.values():
        print_table(rows)
    if misses:
        print_misses([a for n in (*answerable, "unknown") for a in sets[n]["default"]])
    return tables


def print_misses(answers: Sequence[Answer]) -> None:
    """Print the questions that are not held and whose first fact is wrong."""
    for answer in answers:
        good = answer.has_right(1) if answer.asked.right else not answer.shown
        if not good and not answer.asked.held:
            print(f"{answer.asked.text} = {' & '.join(answer.asked.right)}")
            for shown in answer.shown[:3]:
                print(f"    {shown.score:.2f} {shown.text}")


def main() -> None:
    """Measure with the chosen embedder."""
    parser = argparse.ArgumentParser(description="Everyday questions: the right fact, or none.")
    parser.add_argument("--provider", default="local")
    parser.add_argument("--model", help="model of the provider; default: the provider's default")
    parser.add_argument("--test", action="store_true", help="ask the test half instead")
    parser.add_argument("--first-set", type=Path, default=FIRST_SET, metavar="FILE")
    parser.add_argument("--conversations", type=Path, default=DATA, metavar="FILE")
    parser.add_argument("--open", action="store_true", help="leave out the questions that are held")
    parser.add_argument("--documents", action="store_true", help="store documents beside the facts")
    parser.add_argument("--misses", action="store_true", help="print the misses that are not held")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    given = parser.parse_args()
    chosen = {"embedding_provider": given.provider, "embedding_model": given.model}

    first_set = read_first_set(given.first_set) if given.first_set.is_file() else None
    judged = read_judged(given.conversations) if given.conversations.is_file() else []

    async def measure() -> Sets:
        async with run_embedded(folder) as cluster:
            documents = read_sessions(given.conversations) if given.documents else []
            run = Run(cluster, chosen, lambda asked: not (given.open and asked.held), documents)
            return await (ask_test(run) if given.test else ask_sets(run, first_set, judged))

    with open_folder("everyday") as folder:
        sets = anyio.run(measure)
        tables = print_test(sets) if given.test else print_sets(sets, misses=given.misses)
    if given.json:
        content = {"machine": tell_machine(), **chosen, **tables}
        given.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
