"""The measurement of a model's scale with facts of a memory. It needs no test questions.

Every second word of a fact (the first, the third, the fifth and so on) makes a question about the
fact. The other words are the rest of the fact. The measurement gives three figures:

- `floor`: 10 % of the pairs of a question and an unrelated fact have a lower cosine.
- `ceiling`: 5 % of the pairs of a question and its own fact have a higher cosine.
- `trust`: five times the share of comparisons that the model gets right, above one half. Each
  comparison has a question, the rest of its own fact, and the rest of another fact. The comparison
  is right if the rest of the own fact has the higher cosine. A model that knows nothing has a share
  of 0.5. The trust is at least 0.4, because facts that are alike say little about a model.

The factor comes from LoCoMo, a public set of long conversations with questions. There the share is
0.56 to 0.63 for wordllama and 0.68 to 0.72 for MiniLM. Searches are best with a trust of 0.5 for
wordllama and of 1 for MiniLM.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from textrawl.errors import ArgumentInvalid
from textrawl.models.embeddings import Embedder, Scale, Vector, compose_document

SAMPLE = 200
"""The number of facts to measure with. With 200 facts the error of the share is about 0.02."""

_LEAST = 50  # facts; with fewer facts, the figures depend on chance
_LEAST_WORDS = 6
_BATCH = 20  # facts between two reports of progress
_LEAST_RANGE = 0.05  # between floor and ceiling
_CHANCE, _GAIN = 0.5, 5.0  # of the share that gives the trust: see above
_LEAST_TRUST = 0.4

# Words, with their punctuation. Chinese and Japanese do not put blanks between words, so two of
# their characters count as a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\s\u3040-\u30ff\u3400-\u9fff]+")

Fact = tuple[str, str]
"""The name of an entity, and an observation about this entity."""


async def measure_scale(
    embedder: Embedder, facts: Sequence[Fact], report: Callable[[int], object]
) -> Scale:
    """Return the scale of a model. `report` gets the number of facts that have been embedded.

    Raises ArgumentInvalid for too few facts, and EmbeddingUnavailable if the provider fails.
    """
    usable = [
        (entity, words)
        for entity, text in facts
        if len(words := _WORD.findall(text)) >= _LEAST_WORDS
    ]
    if len(usable) < _LEAST:
        raise ArgumentInvalid(
            f"a calibration needs {_LEAST} facts of {_LEAST_WORDS} words or more, and this memory "
            f"has {len(usable)}",
            title="Too few facts to measure with",
        )
    questions, documents, rests = list[Vector](), list[Vector](), list[Vector]()
    for start in range(0, len(usable), _BATCH):
        part = usable[start : start + _BATCH]
        questions += [await embedder.embed_query(" ".join(words[::2])) for _, words in part]
        texts = [compose_document(entity, " ".join(words)) for entity, words in part]
        rest = [" ".join(words[1::2]) for _, words in part]
        vectors = await embedder.embed_documents(texts + rest)
        documents += vectors[: len(part)]
        rests += vectors[len(part) :]
        report(start + len(part))
    entities = [entity for entity, _ in usable]
    return _judge(np.stack(questions), np.stack(documents), np.stack(rests), entities)


def _judge(
    questions: NDArray[np.float32],
    documents: NDArray[np.float32],
    rests: NDArray[np.float32],
    entities: Sequence[str],
) -> Scale:
    cosines = questions @ documents.T
    others = np.array([[one != another for another in entities] for one in entities])
    if not others.any():  # all facts are about one entity
        others = ~np.eye(len(entities), dtype=bool)
    floor = float(np.percentile(cosines[others], 10))
    ceiling = float(np.percentile(np.diag(cosines), 95))
    disjoint = questions @ rests.T
    own = np.diag(disjoint)[:, np.newaxis]
    pairs = ~np.eye(len(entities), dtype=bool)
    share = float((disjoint < own)[pairs].mean())
    return Scale(
        round(floor, 2),
        round(max(ceiling, floor + _LEAST_RANGE), 2),
        round(min(1.0, max(_LEAST_TRUST, _GAIN * (share - _CHANCE))), 2),
    )
