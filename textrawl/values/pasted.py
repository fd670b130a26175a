"""Texts that a person pastes into a prompt: logs, stack traces, diffs and code.

The time grows with the length of the text: each line is looked at once, and only its beginning.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from textrawl.values.text import drop_fences

_MOST_LINES = 6000  # 100,000 characters have fewer, unless they are very short
_LONG_LINE = 300  # characters; a longer line is split into sentences
_SEEN = 200  # characters at the beginning of a line that say what it is

QUESTION_MARKS = "?\uff1f\u061f\u037e\u055e\u1367"  # also of Chinese, Arabic, Greek, Armenian
_CLOSING = "\"')\\]}*_`\u00bb\u201c\u201d\u2019\u300d\u300f"
SENTENCE_END = re.compile(
    rf"(?<=[!?\u061f\u06d4\u0964\u1367\u1362])[{_CLOSING}]{{0,4}}\s+"
    rf"|(?<=[.\u2026])[{_CLOSING}]{{0,4}}\s+(?![a-z])"  # not after an abbreviation
    rf"|(?<=[\u3002\uff01\uff1f])[{_CLOSING}]{{0,4}}\s*"
)
_ASKING = re.compile(rf"[{QUESTION_MARKS}][{_CLOSING}.!]{{0,4}}\s*\Z")

_CLOCK = r"\d\d:\d\d"
_LEVEL = "(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE|PANIC)"
_RECORDED = re.compile(  # lines of logs, stack traces, diffs, and comments in code
    rf"""\s*(?:
    [\[(]?\d{{4}}[-/.]\d\d[-/.]\d\d[T\s_]{_CLOCK} | [\[(]{_CLOCK} | {_CLOCK}:\d\d | \[\s*\d+\.\d+\]
    | \w{{3}}\s+\d\d?\s{_CLOCK} | \d\d/\w{{3}}/\d{{4}}:{_CLOCK} | [IWEF]\d{{4}}\s{_CLOCK}
    | \d{{10}}(?:\d{{3}})?[\s.,\]] | \d{{1,3}}(?:\.\d{{1,3}}){{3}}\s
    | \[?{_LEVEL}\]?\s*[:|\])\[-] | {_LEVEL}\s+\S*[./_:=]\S | (?:level|time|ts|severity)=\S
    | npm\ (?:ERR!|WARN|notice) | \*\*\s\( | commit\s[0-9a-f]{{7}} | (?:Author|Date):\s\s
    | (?:error|warning|fatal|hint|panic|E\ )(?:\[\w+\])?:\s | exit\ (?:status|code)\s
    | [-=*~_]{{4,}} | //
    | Traceback\ \(most | File\ ".*",\ line\ \d
    | at\ (?:async\ |new\ )?[\w.$<>/\[\]@`+-]+\s?\( | at\ \S*/\S+:\d
    | [\w.$]*(?:Error|Exception|Warning|Throwable)(?:\ \[\w+\])?(?::|\s*\Z)
    | Caused\ by: | Exception\ in | During\ handling\ of | The\ above\ exception
    | \.\.\.\ \d+\ more | goroutine\ \d+ | thread\ '.*'\ panicked | stack\ backtrace:
    | \d+:\s+[\w:<]+:: | \#\d+\s+(?:0x|/|\{{|<|\[|\d+\.\d|\S+\() | from\ \S+:\d+:in
    | \S+\.\w{{1,5}}:\d+(?::\d+)?(?::|\s*\Z) | -->\s\S+:\d | 0x[0-9a-f]{{4}}
    | diff\ --git | index\ [0-9a-f]{{6,}} | ---\ \S | \+\+\+\ \S | @@\ | (?:new|deleted)\ file
    | [+-]\s{{2,}} | [+-](?=[^\s\d+-])\S*[^\w\s] | [+-]\Z | rename\ (?:from|to)\ \S
    )""",
    re.VERBOSE,
)
_PROGRAM = re.compile(  # lines of code, data and terminals
    r"""\s*(?:
    [{}\]);] | [(\[]\s*\Z | \[[\[{"] | \[[\w.\s,"'-]*\]\s*\Z | <[/!?\w] | "[\w.$-]+"\s*:
    | /\* | \*/ | \*\s@ | \#!/ | \#include | \#define | \#\[ | @\w+(?:\(|\Z)
    | \$\s | >>>\s | \w+@[\w.-]+[:~] | [|+][\s-] | \d+\s*[|]\s | [A-Z_][A-Z0-9_]*=\S
    | -{1,2}\w[\w-]*(?:=|\Z) | "{3} | =\s\w+:
    | (?:import|from|package|export|require|include)\s+[\w.\"'{*<@/]+
        (?:\s+(?:import|as|from)\b.*|;|\s*\Z)
    | (?:async\s+)?(?:def|function|func|fn|fun|sub)\s+[\w.]+\s*[(<]
    | (?:class|struct|enum|trait|impl|interface|type|module|namespace)\s+\w+[^?]*[:{(=<;]\s*\Z
    | (?:public|private|protected|static|final|abstract|override|pub)\s+[\w<>\[\]]+[\s(][^?]*[({=;]
    | (?:const|let|var|val)\s+[*&\w]+\s*[=:;]
    | (?:auto|int|float|double|char|bool|string|void)\s+[*&\w]+\s*[=;(,)]
    | (?:if|elif|else|for|while|with|try|except|finally|switch|case|match|do|catch)\b[^?]*[:{]\s*\Z
    | (?:if|for|while|switch|catch)\s*\(
    | (?:SELECT|INSERT\ INTO|UPDATE\ \S+\ SET|DELETE\ FROM|(?:CREATE|ALTER|DROP)\ [A-Z]+|FROM
        |WHERE|AND|(?:LEFT\ |INNER\ )?JOIN|GROUP\ BY|ORDER\ BY|VALUES)\s
    | (?:return|raise|throw|yield|await|assert|break|continue|pass|end|fi|done|esac|echo|print
        |sudo|set)(?:\s*[;(]|\s*\Z)
    | [\w.\[\]"']+\s*(?:[-+*/|&^]?=|:=|<-|=>|->)\s*\S
    )""",
    re.VERBOSE,
)
_BESIDE_CODE = re.compile(
    r"\s{2,}(?!\S+(?:\s\S+){4})|\s{4,}|\t|#\s|\s+\*\s|[\w.-]+:(?:\s+\S+)?\s*\Z|- [\w.-]+:\s"
)
"""Lines that are prose or code, as their neighbours are: indented, comments, pairs."""
_MARK = re.compile(
    r"[{};,\\(\[=]\s*\Z|=>|->|::|[=!<>]=|\+=|&&|\|\||\w\(|\w\[|</?\w|\w=\S|\$[\w{]|\\[nt]|\s\|\s"
    r"|/\*|\*/|\w_\w|\w\.\w+\.\w"
)
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_CODE_ENDS = (";", "{", "}", "\\", "; do", "; then")
_LETTER = r"[A-Za-z\u00aa-\u02ff\u0300-\U0010ffff]"
_WORD = re.compile(
    rf"(?<!\S)[\"'(\[*_`\u00ab\u00bf\u00a1\u201c\u201e\u300c-]{{0,3}}{_LETTER}+"
    rf"(?:['\u2019/.-]{_LETTER}+)*[.,;:!?)\]\"'*_`\u2026\u00bb\u201c\u201d\u2019]{{0,4}}(?!\S)"
)
_NUMBER = re.compile(r"(?<!\S)[#(\"']?\d[\d.,:%-]*[.,;:!?)\"']{0,3}(?!\S)")
UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff]"
_UNSPACED = re.compile(UNSPACED)

_PROSE, _UNCLEAR, _PASTED = range(3)


def remove_pasted(text: str) -> str:
    """Return the lines of a text that a person wrote. They are empty if all of it is pasted."""
    lines = [line.rstrip() for line in drop_fences(text).splitlines() if line.strip()]
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 2] + lines[-_MOST_LINES // 2 :]
    return "\n".join(_keep_prose([part for line in lines for part in _split_line(line)])).strip()


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends with a question mark of any script."""
    return _ASKING.search(sentence[-10:]) is not None


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text. A line also ends a sentence."""
    return [
        sentence
        for line in text.splitlines()
        for part in SENTENCE_END.split(line)
        if (sentence := part.strip())
    ]


def count_words(text: str) -> int:
    """Return how many plain words a text has. Scripts without spaces have a word in two letters."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text)) // 2
    return max(len(_WORD.findall(text)), unspaced)


def _split_line(line: str) -> Sequence[str]:
    if len(line) <= _LONG_LINE:
        return [line]
    return [
        piece
        for part in SENTENCE_END.split(line)
        for piece in (_split_tail(part) if len(part) > _LONG_LINE else [part])
        if piece and not piece.isspace()
    ]


def _split_tail(part: str) -> Sequence[str]:
    """Return a sentence without an end in sight as its begin, and the plain words at its end."""
    begin, end = part[:-_LONG_LINE], part[-_LONG_LINE:]
    words = end.split()
    index = len(words)
    while index and (_WORD.fullmatch(words[index - 1]) or index == len(words)):
        index -= 1
    return [begin, " ".join(words[:index]), " ".join(words[index:])]


def _keep_prose(lines: Sequence[str]) -> Iterator[str]:
    """Yield prose. Lines that are neither clear prose nor pasted are what stands beside them."""
    before = _PROSE
    grouped = groupby(zip(lines, _tell_kinds(lines), strict=True), itemgetter(1))
    groups = [(kind, [line for line, _ in group]) for kind, group in grouped]
    for index, (kind, group) in enumerate(groups):
        after = groups[index + 1][0] if index + 1 < len(groups) else _PROSE
        if kind == _PROSE or (kind == _UNCLEAR and _PASTED not in (before, after)):
            yield from group
        before = kind


def _tell_kinds(lines: Sequence[str]) -> Iterator[int]:
    old = new = 0  # lines of the hunk of a diff that are still to come
    for line in lines:
        if (old > 0 or new > 0) and line[:1] in "+- \\":
            old -= line[0] != "+"
            new -= line[0] != "-"
            yield _PASTED
            continue
        hunk = _HUNK.match(line)
        old, new = (int(count or 1) for count in hunk.groups()) if hunk else (0, 0)
        yield _tell_kind(line)


def _tell_kind(line: str) -> int:
    seen = line[:_SEEN]
    if _RECORDED.match(seen):
        return _PASTED
    words = len(_WORD.findall(seen))
    others = len(seen.split()) - words - len(_NUMBER.findall(seen))
    if not seen.isascii():
        words = max(words, len(_UNSPACED.findall(seen)) // 2)
    plain = words >= 2 * others
    if is_question(line) and plain and words and not _BESIDE_CODE.match(seen):
        return _PROSE
    if line.endswith(_CODE_ENDS) or _PROGRAM.match(seen):
        return _PASTED
    marks = len(_MARK.findall(seen))
    if not words or marks > words // 4 or words < others:
        return _PASTED
    if _BESIDE_CODE.match(seen) or not plain:
        return _UNCLEAR
    return _PROSE if words >= 2 else _UNCLEAR  # noqa: PLR2004 - a word alone can be code
