"""Properties of embedding models: dimensions, prefixes, and the scale of cosines.

Prefixes are those of each model's card. Texts are not truncated: a fact has at most 2,000
characters and a name 200, which every model here accepts. Ollama itself truncates at the context
length of its model.
"""

from dataclasses import dataclass, replace

MAX_DIMENSIONS = 4_000
"""The most dimensions that pgvector's HNSW index on halfvec accepts."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The cosines of a model: `floor` for unrelated texts, `ceiling` for equal ones.

    `trust` is the largest score that likeness alone can reach, from 0 to 1 (see search_score.sql).
    """

    floor: float = 0.0
    ceiling: float = 1.0
    trust: float = 0.8


# The scale of wordllama is measured (benchmarks/recall.py), the others are estimates.
_WORDLLAMA = Scale(0.0, 0.9, 0.5)
_OPENAI_3 = Scale(0.1, 0.7)
_NOMIC = Scale(0.45, 0.85)
_MINILM = Scale(0.05, 0.8, 0.7)


@dataclass(frozen=True, slots=True)
class Model:
    """One embedding model.

    `dimensions` is None until an unknown model has answered. A changed prefix needs a new name,
    because old vectors are no longer comparable.
    """

    name: str
    dimensions: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    scale: Scale = Scale()


_PASSAGES = "Represent this sentence for searching relevant passages: "
_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

_KNOWN = {
    model.name: model
    for model in (
        Model("wordllama-l2-supercat-256", 256, scale=_WORDLLAMA),
        Model("text-embedding-3-small", 1536, scale=_OPENAI_3),
        Model("text-embedding-3-large", 3072, scale=_OPENAI_3),
        Model("text-embedding-ada-002", 1536),
        Model("nomic-embed-text", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v1.5", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v2-moe", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("mxbai-embed-large", 1024, _PASSAGES),
        Model("mxbai-embed-large-v1", 1024, _PASSAGES),
        Model("all-minilm", 384, scale=_MINILM),
        Model("all-minilm-l6-v2", 384, scale=_MINILM),
        Model("bge-m3", 1024),
        Model("bge-small-en-v1.5", 384, _PASSAGES),
        Model("bge-base-en-v1.5", 768, _PASSAGES),
        Model("bge-large-en-v1.5", 1024, _PASSAGES),
        Model("e5-small-v2", 384, "query: ", "passage: "),
        Model("e5-base-v2", 768, "query: ", "passage: "),
        Model("e5-large-v2", 1024, "query: ", "passage: "),
        Model("multilingual-e5-small", 384, "query: ", "passage: "),
        Model("multilingual-e5-base", 768, "query: ", "passage: "),
        Model("multilingual-e5-large", 1024, "query: ", "passage: "),
        Model("snowflake-arctic-embed", 1024, _PASSAGES),
        Model("snowflake-arctic-embed2", 1024, "query: "),
        Model("snowflake-arctic-embed-l-v2.0", 1024, "query: "),
        Model("embeddinggemma", 768, "task: search result | query: ", "title: none | text: "),
        Model("embeddinggemma-300m", 768, "task: search result | query: ", "title: none | text: "),
        Model("qwen3-embedding", 4096, _QWEN),
        Model("qwen3-embedding:0.6b", 1024, _QWEN),
        Model("qwen3-embedding:4b", 2560, _QWEN),
        Model("qwen3-embedding-0.6b", 1024, _QWEN),
        Model("qwen3-embedding-4b", 2560, _QWEN),
        Model("qwen3-embedding-8b", 4096, _QWEN),
        Model("granite-embedding", 384),
        Model("paraphrase-multilingual", 768),
    )
}


def find_model(name: str) -> Model:
    """Return a model by the name that a user writes: in any case, with an owner, with a tag.

    A tag other than `latest` may be another size (`snowflake-arctic-embed:22m`). Such a model has
    the prefixes of its family, and its dimensions are unknown at first. The returned name is that
    of the user, without `:latest`.
    """
    name = name.strip().removesuffix(":latest")
    short = name.lower().rpartition("/")[2]
    family, _, tag = short.partition(":")
    exact = _KNOWN.get(short)
    if exact is not None:
        return replace(exact, name=name)
    if tag and family in _KNOWN:
        return replace(_KNOWN[family], name=name, dimensions=None)
    return Model(name)
