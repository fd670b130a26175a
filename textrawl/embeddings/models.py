"""Properties of embedding models: dimensions, prefixes, and the scale of cosines.

The prefixes are copied from the card of each model. textrawl does not truncate texts. A fact has at
most 2,000 characters and a name at most 200, and every model here accepts both together. Ollama
truncates texts at the context length of its model.
"""

from dataclasses import dataclass, replace

MAX_DIMENSIONS = 4_000
"""The largest number of dimensions that pgvector's HNSW index on halfvec accepts."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a model's cosines: `floor` for unrelated texts, `ceiling` for equal texts.

    `trust` is the largest score that a fact can reach by likeness alone, from 0 to 1. It is used in
    `search_score.sql`.
    """

    floor: float = 0.0
    ceiling: float = 1.0
    trust: float = 0.8


# The scales of wordllama and MiniLM are measured (benchmarks/recall.py). The others are estimates.
_WORDLLAMA = Scale(0.0, 0.9, 0.5)
_OPENAI_3 = Scale(0.1, 0.7)
_NOMIC = Scale(0.45, 0.85)
_MINILM = Scale(0.07, 0.85, 0.6)


LOCAL_MODEL = "wordllama-l2-supercat-256"
"""The model that is installed with textrawl."""


@dataclass(frozen=True, slots=True)
class Model:
    """One embedding model.

    `dimensions` is None for an unknown model. If a prefix changes, the model needs a new name,
    because vectors with the old and the new prefix are not comparable.
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
        Model(LOCAL_MODEL, 256, scale=_WORDLLAMA),
        Model("text-embedding-3-small", 1536, scale=_OPENAI_3),
        Model("text-embedding-3-large", 3072, scale=_OPENAI_3),
        Model("text-embedding-ada-002", 1536),
        Model("nomic-embed-text", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v1", 768, "search_query: ", "search_document: ", scale=_NOMIC),
        Model("nomic-embed-text-v1.5-q", 768, "search_query: ", "search_document: ", scale=_NOMIC),
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
        Model("snowflake-arctic-embed-xs", 384, _PASSAGES),
        Model("snowflake-arctic-embed-s", 384, _PASSAGES),
        Model("snowflake-arctic-embed-m", 768, _PASSAGES),
        Model("snowflake-arctic-embed-m-long", 768, _PASSAGES),
        Model("snowflake-arctic-embed-l", 1024, _PASSAGES),
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
        Model("paraphrase-multilingual-minilm-l12-v2", 384),
        Model("paraphrase-multilingual-mpnet-base-v2", 768),
    )
}


def find_model(name: str) -> Model:
    """Return the model that a user means by `name`.

    Upper case, an owner (`owner/bge-m3`) and a tag (`bge-m3:567m`) are allowed. A tag other than
    `latest` can mean another size, such as `snowflake-arctic-embed:22m`. A model with such a tag
    gets the prefixes of its family, and its dimensions are unknown. The returned model has the
    given name without `:latest`.
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
