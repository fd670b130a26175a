"""Rules for stored text. Hidden characters are removed from names, and not allowed in facts.

Text is stored as NFC. With hidden characters, a person and a model can read different texts
(Unicode Technical Report 36). They are NUL, lone surrogates, C0 and C1 controls except tab and
newline, bidi overrides, zero-width and tag characters. Joiners are allowed where they have a
meaning: ZWJ in emoji and Indic scripts, ZWNJ in Persian and related languages.
"""

import json
import re
import unicodedata
from collections.abc import Callable

_NONCHARACTERS = "".join(f"{chr(end - 1)}{chr(end)}" for end in range(0xFFFF, 0x110000, 0x10000))
_HIEROGLYPHS = "\U00013000-\U0001342f\U00013440-\U000143ff"
_ARRANGING = "\U00013430-\U0001343f"  # controls that place hieroglyphs beside and above each other
_QUOTED = "\u2018-\u201d\u3001\u3002\uff01-\uff1f"  # East Asian punctuation with two positions
_SYMBOLS = "\u2190-\u2bff"  # arrows, mathematical symbols, dingbats
_EMOJI = (
    f"{_SYMBOLS}\u00a9\u00ae\u203c\u2049\u2122\u2139\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_SELECTED = (  # variation selectors, and the characters that have a variant for them
    ("\ufe0e", _EMOJI),
    ("\ufe0f(?!(?<=[0-9#*]\ufe0f)\u20e3)", _EMOJI),  # except in keycaps
    ("\ufe00", f"{_SYMBOLS}{_QUOTED}{_HIEROGLYPHS}\u1000-\u109f\uaa60-\uaa7f"  # Myanmar
               "\ua840-\ua877\U00010ac0-\U00010ae6"),  # Phags-pa, Manichaean
    ("\ufe01", f"{_QUOTED}{_HIEROGLYPHS}"),
    ("[\ufe02-\ufe06]", _HIEROGLYPHS),
    ("[\u180b-\u180f]", "\u1820-\u18aa"),  # Mongolian
)  # fmt: skip
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls except tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"  # soft hyphen, fillers
    "\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"  # zero width, bidi
    f"\u3164\ufdd0-\ufdef\ufe07-\ufe0d\ufeff\uffa0\ufff0-\ufffb{_NONCHARACTERS}"  # fillers, BOM
    "\U00016fe4\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # filler, shorthand, music
    "\U000e0000-\U000e0fff\ud800-\udfff]"  # tags, selectors of ideographs
    # A selector after a character without that variant is invisible, so it could hide data. The
    # same is true for a second selector.
    + "".join(f"|(?<![{bases}]){selector}" for selector, bases in _SELECTED)
    + "|(?<![\u2801-\u28ff])\u2800|\u2800(?![\u2801-\u28ff])"  # Braille space outside Braille
    f"|(?<![{_HIEROGLYPHS}{_ARRANGING}])[{_ARRANGING}]+(?![{_HIEROGLYPHS}{_ARRANGING}])"
    f"|(?<=[{_ARRANGING}]{{4}})[{_ARRANGING}]"
)
_JOINER = re.compile("[\u200c\u200d]")
_JOINED_SCRIPTS = ("ARABIC", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL",
                   "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "MYANMAR", "KHMER", "TIBETAN",
                   "SYRIAC", "MONGOLIAN", "NKO")  # fmt: skip
_PICTURES = ("So", "Sm")  # categories of emoji; some arrows at the end of a sequence are Sm
_VIRAMA = 9  # combining class of virama: a joiner after it has a meaning, also at the end of a word
# Only England, Scotland and Wales have flags that are emoji with tag characters. With other tags,
# the emoji looks like a plain black flag and contains hidden text.
_SUBDIVISION_FLAG = re.compile(
    "\U0001f3f4(?:{})".format(
        "|".join(
            "".join(chr(0xE0000 + ord(letter)) for letter in f"{region}\x7f")
            for region in ("gbeng", "gbsct", "gbwls")
        )
    )
)

_SUSPECT = re.compile(
    "|".join(part.pattern for part in (_SUBDIVISION_FLAG, _HIDDEN, _JOINER)), re.DOTALL
)


def clean_name(name: str) -> str:
    """Return the stored form of a name: NFC, single spaces, nothing hidden. It can be empty."""
    kept = _HIDDEN.sub("", unicodedata.normalize("NFC", " ".join(name.split())))
    kept = " ".join(kept.split())
    kept = _JOINER.sub(lambda joiner: joiner[0] if _joins(kept, joiner.start()) else "", kept)
    return " ".join(unicodedata.normalize("NFC", kept).split())


def clean_relation(relation: str) -> str:
    """Return the stored form of a relation's type: a clean name in lower case, _ for spaces."""
    return clean_name(clean_name(relation).casefold()).replace(" ", "_")


def clean_fact(fact: str) -> str:
    """Return the stored form of a fact: NFC, without white space at its ends.

    Raises ValueError with the first character that hides text.
    """
    return clean_part(fact.strip()).strip()


def clean_part(text: str) -> str:
    """Return the stored form of a part of a longer text: NFC, with the white space at its ends.

    Raises ValueError like `clean_fact`.
    """
    plain = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    _refuse_hidden(plain)
    return plain


def check_document(text: str) -> str:
    """Return the text of a document, which is stored as it is, also with CRLF.

    Raises ValueError like `clean_fact`.
    """
    _refuse_hidden(text.replace("\r", "\n"))
    return text


def _refuse_hidden(text: str) -> None:
    visible = _SUBDIVISION_FLAG.sub("\U0001f3f4", text)
    hidden = _HIDDEN.search(visible) or next(
        (found for found in _JOINER.finditer(visible) if not _joins(visible, found.start())), None
    )
    if hidden:
        raise ValueError(f"has a character that hides text (U+{ord(hidden[0][0]):04X}): remove it")


def remove_hidden(text: str) -> str:
    """Return `text` without hidden characters. Only files need it: a call with them is refused."""
    return _replace_hidden(text, lambda _: "")


def escape_hidden(text: str) -> str:
    """Return `text` with hidden characters as escape sequences, which a person can see.

    A stored text can have hidden characters, because SQL clients do not call `clean_fact`.
    """
    return _replace_hidden(text, lambda character: character.encode("unicode_escape").decode())


def escape_json(text: str) -> str:
    """Escape hidden characters in the JSON document `text`, without changing its content."""
    return _replace_hidden(text, lambda character: json.dumps(character)[1:-1])


def _replace_hidden(text: str, write: Callable[[str], str]) -> str:
    """Return `text` with `write` applied to each hidden character."""

    def replace(found: re.Match[str]) -> str:
        if _SUBDIVISION_FLAG.fullmatch(found[0]):
            return found[0]
        if _JOINER.fullmatch(found[0]) and _joins(text, found.start()):
            return found[0]
        return write(found[0])

    return text if text.isascii() and text.isprintable() else _SUSPECT.sub(replace, text)


def _joins(text: str, place: int) -> bool:
    """Return whether the joiner at `place` has a meaning there."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    if not before or not after or after.isspace():
        return False
    if before == "\ufe0f" or "\U0001f3fb" <= before <= "\U0001f3ff":
        return unicodedata.category(after) in _PICTURES
    if text[place] == "\u200d" and unicodedata.category(before) == "So":
        return unicodedata.category(after) in _PICTURES
    return unicodedata.name(before, "").split(" ", 1)[0] in _JOINED_SCRIPTS
