"""The operations of the `corpus` toolset, with corrections and the choice of a graph.

`graphs` has the names of the only graphs that a call can reach, or is None. The database also
checks the rights of the caller in each graph.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from hashlib import sha256
from uuid import UUID

from pydantic import BaseModel
from rapidfuzz.distance import Levenshtein

from textrawl import errors
from textrawl.errors import ArgumentInvalid, LlmBadOutput, ScopeMissing, TextrawlError
from textrawl.memory.backlog import embed_document, find_document_model
from textrawl.memory.chunking import MOST_CHARACTERS, chunk_text
from textrawl.memory.llm_calls import LlmCalls
from textrawl.memory.store import StoreCall
from textrawl.models.llm import Material, Prompt
from textrawl.scheduling import let_later_writes_pass, run_aside
from textrawl.settings import CorrectionMode
from textrawl.values.grounding import Grounding
from textrawl.values.text import clean_text
from textrawl.values.times import write_day
from textrawl.wire.token_counter import choose_counter


@dataclass(frozen=True)
class FoundChunkRow:
    """A chunk of recall_chunks. If it is `over_cap`, `content` is None."""

    document_id: UUID
    part: int
    graph: str
    label: str
    line: int
    content: str | None
    tokens: int
    score: float
    updated_at: datetime
    observation_id: UUID
    over_cap: bool

    @property
    def chunk_id(self) -> str:
        """The id of the chunk."""
        return write_chunk_id(self.document_id, self.part)

    @property
    def day(self) -> str:
        """The day on which the source was updated."""
        return write_day(self.updated_at)


@dataclass(frozen=True)
class ReachableGraphRow:
    """A graph that the caller can read or write."""

    name: str
    readable: bool
    writable: bool
    home: bool


@dataclass(frozen=True)
class StoredSourceRow:
    """A source after store_source. `changed` is false if the graph has the text already."""

    document_id: UUID
    space_id: int
    changed: bool
    chunk_count: int


@dataclass(frozen=True)
class CorpusSizeRow:
    """The name of the database, and the estimated size of the readable graphs."""

    database: str
    bytes: int


@dataclass(frozen=True)
class ChunkRow:
    """The text of a chunk, with its graph and the label of its source."""

    graph: str
    label: str
    content: str


@dataclass(frozen=True)
class ProposedRow:
    """A correction of propose_correction."""

    id: UUID
    apply_until: datetime


@dataclass(frozen=True)
class AppliedRow:
    """The chunk that apply_correction changed, and the event of the trail."""

    space_id: int
    document_id: UUID
    part: int
    event_id: int


_PATH_LENGTH = 32  # hexadecimal digits of the hash in the path of a remembered text


@dataclass(frozen=True)
class CorpusQuestion:
    """A search: at most `limit` chunks with at least `min_score`, and at most `ceiling` tokens."""

    query: str
    limit: int
    min_score: float
    ceiling: int


@dataclass(frozen=True)
class Clip:
    """A text that a client remembers, with its label and kind."""

    text: str
    label: str
    kind: str

    @property
    def hash(self) -> str:
        """The SHA-256 of the text. A graph stores equal texts once."""
        return sha256(self.text.encode()).hexdigest()


def write_chunk_id(document: UUID, part: int) -> str:
    """Return the id of a chunk: its source and its number."""
    return f"{document}:{part}"


class CorpusOperations:
    """The graphs of one memory."""

    def __init__(self, call: StoreCall, graphs: Sequence[str] | None) -> None:
        self._store, self._caller = call.store, call.caller
        self._graphs = None if graphs is None else list(graphs)

    async def recall(
        self, question: CorpusQuestion, names: Sequence[str] | None
    ) -> tuple[list[FoundChunkRow], str | None]:
        """Return chunks, best first, and the reason if the search used no vectors.

        If `names` is not None, search only these graphs.
        """

        async def attempt() -> tuple[list[FoundChunkRow], str | None]:
            model, vector, missing = await self._store.embed_query(question.query)
            rows = await self._store.database.call(
                "recall_chunks",
                FoundChunkRow,
                query=question.query,
                graphs=self._graphs if names is None else list(names),
                max_rows=question.limit,
                min_score=question.min_score,
                ceiling=question.ceiling,
                model=model,
                vector=vector,
                credential=self._caller.principal.credential,
            )
            return rows, missing

        return await self._store.search(attempt)

    async def find_graphs(self) -> list[ReachableGraphRow]:
        """Return the graphs that the caller can read or write."""
        place = {"credential": self._caller.principal.credential, "names": self._graphs}
        return await self._store.call("reachable_graphs", ReachableGraphRow, **place)

    async def remember(self, clip: Clip, graph: str) -> StoredSourceRow:
        """Store a text in a graph, unless the graph has the text. Embed its chunks."""
        chunks = await run_aside(chunk_text, clip.text, "markdown")
        texts = [clip.text[chunk.start : chunk.start + chunk.length] for chunk in chunks]
        model = await find_document_model(self._store, texts)
        row = await self._store.call_one(
            "store_source",
            StoredSourceRow,
            graph=graph,
            path=f"clip/{clip.hash[:_PATH_LENGTH]}",
            label=clip.label,
            content=clip.text,
            chunks=json.dumps(chunks),
            sha256=clip.hash,
            source_kind=clip.kind,
            **self._caller.signing,
        )
        if row.changed:
            await embed_document(self._store, model, row.space_id, row.document_id)
        return row

    async def find_model(self) -> tuple[str | None, int]:
        """Return the name of the active model and its dimensions, or None and 0."""
        try:
            active = await self._store.models.find_active()
        except (errors.EmbeddingNotConfigured, errors.EmbeddingUnavailable):
            return None, 0
        return active.embedder.name, active.embedder.dimensions or 0


_ANSWER_TOKENS = 8_000
_TASK = (
    "Correct a passage of a document. Change only what the correction says. Keep all other words, "
    "the language, the layout and the line breaks. Invent nothing. Answer as JSON: proposedText is "
    "the whole passage after the correction, without the tags."
)


class ProposedText(BaseModel):
    """The answer of the LLM."""

    proposedText: str  # noqa: N815 - the LLM gets the name of the reply


def build_prompt(label: str, chunk: str, proposal: str) -> Prompt:
    """Return the prompt for the correction of a chunk."""
    material = Material()
    passage = material.enclose("passage", json.dumps(label)[1:-1], chunk)
    correction = f"The correction, as JSON text: {json.dumps(proposal, ensure_ascii=False)}"
    return Prompt(f"{_TASK}\n\n{material.care}", f"{passage}\n\n{correction}", _ANSWER_TOKENS)


def place_text(original: str, text: str) -> str:
    """Return a new text for a chunk, with the outer white space and line ends of the original.

    Raises ValueError with the fault of a text that is empty, unchanged or too long.
    """
    core = original.strip()
    before, _, after = original.partition(core) if core else (original, "", "")
    plain = clean_text(text).strip()
    if not plain:
        raise ValueError("is empty")
    if "\r\n" in original:
        plain = plain.replace("\n", "\r\n")
    if plain in (core, unicodedata.normalize("NFC", core)):
        raise ValueError("does not change the chunk")
    proposed = f"{before}{plain}{after}"
    if len(proposed) > MOST_CHARACTERS:
        raise ValueError(f"has more than {MOST_CHARACTERS} characters")
    return proposed


def write_diff(original: str, proposed: str) -> str:
    """Return the changed lines: former lines after "- ", and new lines after "+ "."""
    old, new, changes = original.split("\n"), proposed.split("\n"), list[str]()
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            changes += (f"- {line}" for line in old[start:end])
            changes += (f"+ {line}" for line in new[new_start:new_end])
    return "\n".join(changes)


@dataclass(frozen=True)
class Proposal:
    """A proposed correction, which nobody has applied yet."""

    row: ProposedRow
    original: str
    proposed: str


class CorrectionOperations:
    """Corrections of chunks for one caller, in `graphs` or in all graphs of the caller."""

    def __init__(self, call: StoreCall, graphs: Sequence[str] | None) -> None:
        self._store, self._caller = call.store, call.caller
        self._graphs = None if graphs is None else list(graphs)

    async def propose(
        self, document: UUID, part: int, proposal: str, mode: CorrectionMode
    ) -> Proposal:
        """Store a proposed text for a chunk. The chunk does not change. Raises LlmFailed."""
        chunk = await self._store.call_one(
            "read_chunk",
            ChunkRow,
            document=document,
            chunk_part=part,
            credential=self._caller.principal.credential,
            graphs=self._graphs,
            scope="write",  # otherwise the LLM would work for a caller who can only read
        )
        if mode == "llm":
            proposed = await self._ask(chunk, proposal)
        else:
            proposed = _place_proposal(chunk.content, proposal)
        row = await self._store.call_one(
            "propose_correction",
            ProposedRow,
            document=document,
            chunk_part=part,
            original=chunk.content,
            proposed=proposed,
            proposal=proposal,
            tokens=choose_counter().count(proposed),
            mode=mode,
            graphs=self._graphs,
            **self._caller.signing,
        )
        return Proposal(row, chunk.content, proposed)

    async def apply(self, correction: UUID) -> tuple[AppliedRow, bool]:
        """Replace a chunk by its proposed text. Return also whether it has its vector already."""
        # The text is not known yet, so ask with the longest text of a chunk.
        model = await find_document_model(self._store, ["x" * MOST_CHARACTERS])
        row = await self._store.call_one(
            "apply_correction",
            AppliedRow,
            correction=correction,
            graphs=self._graphs,
            **self._caller.signing,
        )
        return row, await embed_document(self._store, model, row.space_id, row.document_id)

    async def _ask(self, chunk: ChunkRow, proposal: str) -> str:
        let_later_writes_pass()  # the LLM can take a minute
        principal = self._caller.principal
        space = next((one.id for one in principal.spaces if one.name == chunk.graph), None)
        calls = LlmCalls(
            self._store,
            "record_llm_use",
            purpose="correct",
            credential=principal.credential,
            space=space,
        )
        prompt = build_prompt(chunk.label, chunk.content, proposal)
        answer = await calls.complete_json(prompt, ProposedText, whole=True)
        try:
            _refuse_invention(answer.proposedText, f"{chunk.content}\n{proposal}")
            return place_text(chunk.content, answer.proposedText)
        except ValueError as fault:
            raise LlmBadOutput(
                f"The text that the LLM wrote {fault}: say in proposal which words to replace, or "
                "set TEXTRAWL_LLM_MODEL to a larger model; nothing was stored"
            ) from fault


def _refuse_invention(text: str, known: str) -> None:
    """Raise ValueError if a text has a name or a number that is not known."""
    if invented := Grounding(known).find_invention(text):
        raise ValueError(f"has {invented!r}, which neither the chunk nor the proposal has")


def _place_proposal(chunk: str, proposal: str) -> str:
    """Return the proposal as the new text of a chunk. Raises ArgumentInvalid."""
    try:
        return place_text(chunk, proposal)
    except ValueError as fault:
        raise ArgumentInvalid(
            f"proposal {fault}: give the whole new text of the chunk, because this server has "
            "TEXTRAWL_CORRECTION_MODE=deterministic; nothing was stored"
        ) from fault


_CONTAINS, _CONTAINS_LITTLE = 0.9, 0.7
_SHORT = 4  # characters: shorter names are parts of many others
_LEAST = 0.6
_MOST = 3
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class SimilarName:
    """A name that resembles another, with the reason. The score is from 0 to 1."""

    name: str
    score: float
    reason: str


def fold(name: str) -> str:
    """Return the letters and digits of a name in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", name).lower()))


def find_equal(given: str, names: Iterable[str]) -> list[str]:
    """Return the names that have the letters and digits of `given`, or only the very same name."""
    folded = fold(given)
    equal = [name for name in names if fold(name) == folded]
    return [given] if given in equal else equal


def rank(given: str, names: Iterable[str]) -> Sequence[SimilarName]:
    """Return the at most three names that resemble `given` most, the best first."""
    candidates = [_compare(given, name) for name in names] if fold(given) else []
    close = [candidate for candidate in candidates if candidate.score >= _LEAST]
    return sorted(close, key=lambda candidate: (-candidate.score, candidate.name))[:_MOST]


def _compare(given: str, name: str) -> SimilarName:
    mine, other = fold(given), fold(name)
    words, others = _list_words(given), _list_words(name)
    if mine in other:
        contained = _CONTAINS if len(mine) >= _SHORT else _CONTAINS_LITTLE
    else:
        contained = _CONTAINS if other in mine else 0
    scores = (
        (contained, "contains your text"),
        (len(words & others) / max(len(words | others), 1), "same words"),
        (Levenshtein.normalized_similarity(mine, other), "close spelling"),
    )
    score, reason = max(scores, key=lambda pair: pair[0])
    return SimilarName(name, score, reason)


def _list_words(name: str) -> set[str]:
    plain = _CAMEL.sub(" ", unicodedata.normalize("NFC", name))
    return {word.lower() for word in _WORD.findall(plain)}


_SHOWN = 40  # names of graphs that an error lists
_ASK = "Ask the user which one, or whether to create one; do not retry before. Nothing was stored"


def choose_graph(
    graphs: Sequence[ReachableGraphRow], slug: str | None, name: str | None
) -> ReachableGraphRow:
    """Return the graph that a caller names by its slug, or by a name with equal letters and digits.

    Without both, return the only writable graph, or else the home space. Raises ArgumentInvalid
    with the names that the caller can mean, and ScopeMissing for a graph that is only readable.
    """
    if slug is None and name is None:
        return _choose_default(graphs)
    known = [graph.name for graph in graphs]
    chosen = [known.index(slug)] if slug is not None and slug in known else []
    if slug is None and name is not None:
        chosen = [known.index(equal) for equal in find_equal(name, known)]
    if len(chosen) != 1:
        raise _refuse(graphs, slug or name or "")
    graph = graphs[chosen[0]]
    if slug is not None and name is not None and find_equal(name, known) != [slug]:
        fix = "give only graphId or only target_engram; nothing was stored"
        raise ArgumentInvalid(fix, title="Two different graphs")
    if not graph.writable:
        raise ScopeMissing("write", f"this token can only read {graph.name}")
    return graph


def _choose_default(graphs: Sequence[ReachableGraphRow]) -> ReachableGraphRow:
    writable = [graph for graph in graphs if graph.writable]
    chosen = writable if len(writable) == 1 else [graph for graph in writable if graph.home]
    if len(chosen) == 1:
        return chosen[0]
    if writable:
        fix = f"give target_engram, one of: {_list(writable)}; nothing was stored"
        raise ArgumentInvalid(fix, title="Missing target_engram")
    raise _report_none(graphs)


def _refuse(graphs: Sequence[ReachableGraphRow], given: str) -> TextrawlError:
    writable = [graph for graph in graphs if graph.writable]
    if not writable:
        return _report_none(graphs)
    shown = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}…"
    close = rank(given, [graph.name for graph in writable])
    names = ", ".join(f"{candidate.name} ({candidate.reason})" for candidate in close)
    found = f"Close matches: {names}" if close else f"The graphs are: {_list(writable)}"
    return ArgumentInvalid(f"{found}. {_ASK}", title=f"No graph {shown!r}")


def _report_none(graphs: Sequence[ReachableGraphRow]) -> TextrawlError:
    if graphs:
        return ScopeMissing("write", "this token can only read graphs")
    return ArgumentInvalid(
        "a person creates one with `textrawl space create documents --tier personal`; ask the "
        "user, and do not retry before",
        title="There is no graph yet",
    )


def _list(graphs: Sequence[ReachableGraphRow]) -> str:
    names = ", ".join(graph.name for graph in graphs[:_SHOWN])
    more = len(graphs) - _SHOWN
    return f"{names} and {more} more, which stats lists" if more > 0 else names
