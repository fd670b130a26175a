"""Correction of a chunk: the prompt, the checks of the new text, and the diff."""

import json
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher

from pydantic import BaseModel

from textrawl.documents.chunking import MOST_CHARACTERS
from textrawl.llm import Prompt
from textrawl.llm.material import Material
from textrawl.values.text import clean_part

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

    Raises ValueError with the fault of a text that is empty, unchanged, too long or has hidden
    characters.
    """
    core = original.strip()
    before, _, after = original.partition(core) if core else (original, "", "")
    plain = clean_part(text).strip()
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
    return "\n".join(_list_changes(original.split("\n"), proposed.split("\n")))


def _list_changes(old: list[str], new: list[str]) -> Iterator[str]:
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            yield from (f"- {line}" for line in old[start:end])
            yield from (f"+ {line}" for line in new[new_start:new_end])
