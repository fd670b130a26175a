"""The prompts of a consolidation, and the entry from the answers of the LLM."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from textrawl.llm import Prompt
from textrawl.llm.material import Material
from textrawl.values.text import clean_name

_MOST_CHARACTERS = 60_000  # of the texts in a prompt: small models have a context of 32,000 tokens
_MOST_IDENTITY = 20_000
_MOST_BULLETS = 100
_LONGEST_ANSWER = 20_000  # characters of all bullets: less than a prompt, so that the steps end
_ANSWER_TOKENS = 3_000

_TASK = (
    "You are the agent that the identity files describe. You write your journal. Combine the "
    "{sources} entries of {period} into one {granularity} entry. Write in the first person and in "
    "the language of the entries. Keep what matters later: decisions, events, feelings, people, "
    "dates, promises. Leave out repetitions. Invent nothing. Answer only with bullets. Each bullet "
    'is one line that begins with "- ". Keep tags such as [via:laptop].'
)
_CHAT_TAG = re.compile(r"(?<!\s)\s*+\[chat:[^\[\]]*+\]")  # in linear time
_BULLET = re.compile(r"^\s{0,3}[-*] +(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Text:
    """A text of the memory: a journal entry, an identity file, or notes of the LLM."""

    path: str
    content: str


@dataclass(frozen=True)
class Period:
    """The period of a consolidation, such as `weekly` and `2026-W19`."""

    granularity: str
    name: str

    @property
    def sources(self) -> str:
        """The granularity of the entries to combine."""
        return {"weekly": "daily", "monthly": "weekly", "yearly": "monthly"}[self.granularity]


def build_prompt(period: Period, identity: Sequence[Text], sources: Sequence[Text]) -> Prompt:
    """Return the prompt for the entry of `period`."""
    material = Material()
    task = _TASK.format(sources=period.sources, period=period.name, granularity=period.granularity)
    files = [material.enclose("identity", text.path, text.content) for text in identity]
    entries = [material.enclose("entry", text.path, text.content) for text in sources]
    system = "\n\n".join([task, material.care, *files])
    return Prompt(system, "\n\n".join(entries), _ANSWER_TOKENS)


def limit_identity(files: Sequence[Text]) -> list[Text]:
    """Return the first identity files that fit into a prompt together."""
    kept, length = list[Text](), 0
    for file in files:
        length += len(file.content)
        if length > _MOST_IDENTITY:
            break
        kept.append(file)
    return kept


def pack(texts: Sequence[Text]) -> list[list[Text]]:
    """Return groups of texts, in order. Each group fits into a prompt. Long texts are split."""
    groups, length = [list[Text]()], 0
    for text in (piece for whole in texts for piece in _split(whole)):
        if groups[-1] and length + len(text.content) > _MOST_CHARACTERS:
            groups.append([])
            length = 0
        groups[-1].append(text)
        length += len(text.content)
    return groups


def _split(text: Text) -> list[Text]:
    starts = range(0, max(len(text.content), 1), _MOST_CHARACTERS)
    return [Text(text.path, text.content[start : start + _MOST_CHARACTERS]) for start in starts]


def read_bullets(answer: str) -> list[str]:
    """Return the bullets of an answer, without chat tags, hidden characters and repetitions."""
    found = (clean_name(_CHAT_TAG.sub("", bullet)) for bullet in _BULLET.findall(answer))
    kept, length = dict[str, None](), 0
    for bullet in found:
        length += len(bullet)
        if bullet and length <= _LONGEST_ANSWER and len(kept) < _MOST_BULLETS:
            kept[bullet] = None
    return list(kept)


def write_entry(period: Period, bullets: Sequence[str]) -> str:
    """Return the text of the entry of `period`."""
    lines = [f"- {bullet}" for bullet in bullets]
    return "\n".join([f"# {period.granularity.capitalize()} Memory - {period.name}", "", *lines])
