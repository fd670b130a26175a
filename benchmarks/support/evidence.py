"""The evidence that search_memory() has for facts, with labelled questions, for benchmarks.fit."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psycopg
from numpy.typing import NDArray

from benchmarks import everyday, truth
from benchmarks.recall import ADVERSARIAL, collect_documents, embed
from benchmarks.support.filled_memory import Document, open_filled_memory
from textrawl.embedded.cluster import Cluster
from textrawl.memory.questions import NamedTime, describe_time
from textrawl.models.embeddings import Embedder
from textrawl.values.times import regularise

Numbers = NDArray[np.float64]

RECALL = ("facts", "turns")
"""The kinds of sets with several right facts a question, which are measured by R@10."""

COLUMNS = (
    "meaning", "words", "about", "beside", "period", "unheard", "better", "ordinal",
    "right",
)  # fmt: skip
"""The columns of the evidence: six features, what neighbours added, and two that are known."""

WEIGHTS = ("base", *COLUMNS[:7])

_LIFT, _ORDINAL = 6, 7
_ROWS = 100
_APART = 9  # an ordinal times this has no neighbours

_SEARCH = """
    select f.entity_name, f.content, coalesce(f.valid_from, f.said_at, '-infinity')::text,
        o.ordinal, f.log_odds
    from search_memory(query => %(query)s, max_rows => %(rows)s, model => %(model)s,
        vector => %(vector)s, least_score => 0,
        around => %(around)s, during => %(during)s, tense => %(tense)s, clause => %(clause)s) f
    join observation o on o.space_id = f.space_id and o.id = f.observation_id"""
_WEIGHTS = """
    select m.id, m.name, sqrt(m.trust),
        w.base, w.meaning, w.words, w.about, w.beside, w.period, w.unheard, w.better
    from embedding_model m cross join ranking_weights(m.name) w"""


class Fact(NamedTuple):
    """A fact as a judge of answers sees it."""

    entity: str
    text: str
    day: str


class Labelled(NamedTuple):
    """A question, the number of its right facts, and a function that knows them.

    `group` is the life, conversation or language of the question.
    """

    text: str
    right: int
    judge: Callable[[Fact], bool]
    group: str


@dataclass(frozen=True)
class LabelledSet:
    """A memory with questions."""

    kind: str
    stored: Any  # as of open_filled_memory()
    questions: list[Labelled]
    language: str = "english"


def label(kind: str, asked: everyday.Asked) -> Labelled:
    """Return a question of benchmarks.everyday."""
    judge = partial(_is_of_life, asked)
    return Labelled(asked.text, len(asked.right), judge, kind + asked.heading)


def _is_of_life(asked: everyday.Asked, fact: Fact) -> bool:
    return asked.judge(everyday.Shown(fact.text, 1)) is True


def read_life(kind: str, life: everyday.Life, language: str = "english") -> LabelledSet:
    """Return a set of benchmarks.everyday."""
    questions = [label(kind, asked) for asked in life.questions]
    return LabelledSet(kind, partial(everyday.store, life=life), questions, language)


def read_lives(more: Sequence[Path]) -> list[LabelledSet]:
    """Return the sets of benchmarks.everyday, and those of further files."""
    for path in more:
        if everyday.TEST in path.resolve().parents:
            raise SystemExit(f"{path} is of the test half: no weight may be fitted to it.")
    lives = read_life("lives", everyday.read_life("lives"))
    lives.questions.extend(label("unknown", asked) for asked in everyday.read_unknown())
    sets = [lives, read_life("one hop", everyday.read_life("one_hop"))]
    if everyday.FIRST_SET.is_file():
        sets.append(read_life("first set", everyday.read_first_set(everyday.FIRST_SET)))
    for name, language in everyday.LANGUAGES.items():
        sets.append(read_life(name, everyday.read_life(name), language))
    named = [str(path.resolve().with_suffix("")) for path in more]
    return sets + [read_life(Path(name).name, everyday.read_life(name)) for name in named]


def read_conversations(path: Path) -> list[LabelledSet]:
    """Return the facts and the turns of each conversation, with its questions."""
    sets = list[LabelledSet]()
    content: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.is_file() else []
    for conversation in content:
        for task in RECALL:
            documents = collect_documents(conversation, task)
            known = LabelledSet(task, documents, [])
            for question in conversation["questions"]:
                right = {d for d, turns in documents.items() if turns & set(question["evidence"])}
                if question["category"] != ADVERSARIAL and right:
                    judge = partial(_is_of_conversation, right)
                    asked = (question["question"], len(right), judge, conversation["id"])
                    known.questions.append(Labelled(*asked))
            sets.append(known)
    return sets


def read_histories() -> list[LabelledSet]:
    """Return the histories of each language, with their questions."""
    sets = list[LabelledSet]()
    for path in sorted(truth.FILES.glob("development/*.txt")):
        histories = truth.read_histories(path, datetime.now(UTC))

        async def store(client: Any, histories: list[truth.History] = histories) -> None:
            for history in histories:
                await truth.store(client, history)

        asked = [question for history in histories for question in history.questions]
        questions = [
            Labelled(q.text, len(q.right), partial(_is_of_history, q), f"histories {path.stem}")
            for q in asked
        ]
        sets.append(LabelledSet("histories", store, questions, path.stem))
    return sets


def _is_of_conversation(right: set[Document], fact: Fact) -> bool:
    return (fact.entity, fact.text) in right


def _is_of_history(question: truth.HistoryQuestion, fact: Fact) -> bool:
    return any(text in fact.text and fact.day.startswith(day) for text, day in question.right)


@dataclass
class Evidence:
    """The evidence of all questions: rows for each question, and what is known of it.

    The columns of a row are those of COLUMNS. `questions` are kind, group, number of the model, and
    number of right facts, which is 0 if nothing answers the question. `weights` are those of each
    model at that time, in the order of WEIGHTS, and `factors` what the row `*` of `meaning` is
    multiplied by for a model.
    """

    models: list[str] = field(default_factory=list[str])
    weights: list[list[float]] = field(default_factory=list[list[float]])
    factors: list[float] = field(default_factory=list[float])
    questions: list[tuple[str, str, int, int]] = field(default_factory=list[Any])
    rows: list[Numbers] = field(default_factory=list[Numbers])

    async def add(
        self, known: LabelledSet, sql: psycopg.Connection[Any], embedder: Embedder
    ) -> None:
        """Ask the questions of a set."""
        sql.execute("update ranking_weight set weight = 0.001 where weight = 0")
        [(model, name, factor, *found)] = sql.execute(_WEIGHTS).fetchall()
        if name not in self.models:
            self.models.append(name)
            self.weights.append(found)
            self.factors.append(factor)
        rows = list[Numbers]()
        for question in known.questions:
            query, now = regularise(question.text), datetime.now(UTC)
            [row] = sql.execute("select * from question_time(%s, %s)", (query, now))
            time = dict[str, object].fromkeys(("around", "during", "tense", "clause"))
            named = NamedTime(*row)
            time |= describe_time(named, query, now)
            query = named.rest if named.relative else query
            if known.kind == "histories" and not time["around"]:
                continue
            vector = await embed(sql, embedder, query)
            given: dict[str, object] = {
                "query": query,
                "rows": _ROWS,
                "model": model,
                "vector": vector,
            }
            rows.append(_read_rows(sql.execute(_SEARCH, given | time).fetchall(), question, found))
            self.questions.append(
                (known.kind, question.group, self.models.index(name), question.right)
            )
        if not any(row[:, _LIFT].any() for row in rows):  # neighbours do not count in this memory
            for row in rows:
                row[:, _ORDINAL] *= _APART
        self.rows += rows

    def save(self, path: Path) -> None:
        """Write the evidence to a file."""
        lengths = [len(rows) for rows in self.rows]
        known = np.array(self.questions, object).astype(str)
        np.savez_compressed(
            path,
            models=self.models,
            weights=self.weights,
            factors=self.factors,
            lengths=lengths,
            known=known,
            rows=np.concatenate(self.rows),
        )

    @classmethod
    def load(cls, path: Path) -> "Evidence":
        """Read the evidence from a file."""
        with np.load(path) as file:
            rows = np.split(file["rows"], np.cumsum(file["lengths"])[:-1])
            known = [(k, g, int(m), int(right)) for k, g, m, right in file["known"].tolist()]
            models, weights, factors = (file[n].tolist() for n in ("models", "weights", "factors"))
            return cls(models, weights, factors, known, rows)


def _read_rows(
    found: Sequence[tuple[Any, ...]], question: Labelled, weights: Sequence[float]
) -> Numbers:
    """Divide each part of the log-odds by its weight."""
    if not found:
        return np.zeros((1, len(COLUMNS)))
    parts = np.array([row[-1][1 : len(WEIGHTS)] for row in found]) / weights[1:]
    ordinals = [-_APART * place if row[3] is None else row[3] for place, row in enumerate(found, 1)]
    return np.column_stack([parts, ordinals, [question.judge(Fact(*row[:3])) for row in found]])


async def gather(
    cluster: Cluster, sets: Sequence[LabelledSet], providers: Sequence[str]
) -> Evidence:
    """Fill a memory for each set and provider, and collect the evidence."""
    evidence = Evidence()
    for provider in providers:
        for place, known in enumerate(sets):
            chosen = {"embedding_provider": provider}
            memory = open_filled_memory(
                cluster, f"{provider}{place}", known.stored, chosen, language=known.language
            )
            async with memory as (sql, embedder):
                await evidence.add(known, sql, embedder)
    return evidence
