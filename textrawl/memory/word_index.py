"""An index of words in the memory of a process: FTS5 of SQLite, for texts that no disk may have."""

import re
import sqlite3
from collections.abc import Iterable

_WORDS = re.compile(r"\w+")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_PREFIX = 4  # characters from which a word of a query also finds longer words
_MOST_WORDS = 50  # of a query


class WordIndex:
    """Texts with their titles, by their numbers from 0. English words have Porter's stems.

    Methods may run in different threads, one after the other.
    """

    def __init__(self) -> None:
        self._base = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._base.executescript(
            "pragma temp_store = memory; pragma journal_mode = off;"
            "create virtual table word using fts5("
            "title, text, tokenize = 'porter unicode61', content = '');"
            # Segments of 100 MB, which are never merged, save a quarter of the time.
            "insert into word (word, rank) values ('hashsize', 100000000), ('automerge', 0);"
        )
        self._number = 0

    def close(self) -> None:
        """Drop the index."""
        self._base.close()

    def add(self, texts: Iterable[tuple[str, str]]) -> None:
        """Add texts, each after its title."""
        rows = [
            (number, title, _spread(text))
            for number, (title, text) in enumerate(texts, self._number)
        ]
        self._base.execute("begin")
        self._base.executemany("insert into word (rowid, title, text) values (?, ?, ?)", rows)
        self._base.execute("commit")
        self._number += len(rows)

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Return the numbers of the texts that have words of a query, the best first (BM25).

        The score of the best text is 1, and those of the others are shares of it.
        """
        words = [*dict.fromkeys(_WORDS.findall(query.casefold()))][:_MOST_WORDS]
        if not words:
            return []
        terms = [f'"{_spread(word)}"{"*" * (len(word) >= _PREFIX)}' for word in words]
        rows = self._base.execute(
            "select rowid, -bm25(word, 2.0, 1.0) as score from word where word match ?"
            " order by score desc, rowid limit ?",
            (" OR ".join(terms), limit),
        ).fetchall()
        return [(number, score / rows[0][1]) for number, score in rows]


def _spread(text: str) -> str:
    """Return a text with spaces around ideographs, each of which is a word of the index."""
    return text if text.isascii() else _IDEOGRAPH.sub(r" \g<0> ", text)
