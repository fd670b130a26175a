"""What text may be stored: names are cleaned, facts are refused when they hide something.

Text is stored NFC. NUL, lone surrogates, C0 and C1 controls (tab and newline excepted), bidi
overrides, zero-width and tag characters can make a person and a model read different things
(Unicode Technical Report 36). The joiners stay where they carry meaning: ZWJ in emoji and Indic
scripts, ZWNJ in Persian and its kin.
"""

import re
import unicodedata

NAME_LENGTH = 200
FACT_LENGTH = 2000

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, fillers, Mongolian
    "\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"  # zero width, bidi
    "\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"  # fillers, noncharacters, BOM
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand, music, tags
    "\ud800-\udfff]"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"  # variation selectors in a row carry bytes, not style
)
_JOINER = re.compile("[\u200c\u200d]")
_JOINED_SCRIPTS = ("ARABIC", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL",
                   "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "MYANMAR", "KHMER", "TIBETAN",
                   "SYRIAC", "MONGOLIAN", "NKO")  # fmt: skip
_VIRAMA = 9  # combining class: the sign after which a joiner chooses the shape, at a word's end too
_SUBDIVISION_FLAG = re.compile(
    "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{1,8}\U000e007f"
)


def clean_name(name: str) -> str:
    """The name as it is stored: NFC, nothing hidden, white space folded. May come out empty."""
    kept = _HIDDEN.sub("", " ".join(name.split()))
    kept = " ".join(kept.split())
    kept = _JOINER.sub(lambda joiner: joiner[0] if _joins(kept, joiner.start()) else "", kept)
    return " ".join(unicodedata.normalize("NFC", kept).split())


def clean_relation(relation: str) -> str:
    """The type of a relation as it is stored: a clean name, in lower case, with _ for spaces."""
    return clean_name(clean_name(relation).casefold()).replace(" ", "_")


def clean_fact(fact: str) -> str:
    """The fact as it is stored: NFC, trimmed.

    Raises ValueError naming the first character that hides text, which a fact may not hold.
    """
    plain = fact.replace("\r\n", "\n").strip()
    visible = _SUBDIVISION_FLAG.sub("", plain)
    hidden = _HIDDEN.search(visible) or next(
        (found for found in _JOINER.finditer(visible) if not _joins(visible, found.start())), None
    )
    if hidden:
        raise ValueError(f"has a character that hides text (U+{ord(hidden[0]):04X}): remove it")
    return unicodedata.normalize("NFC", plain).strip()


def _joins(text: str, place: int) -> bool:
    """Whether the joiner at `place` has a use there."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    if not before or not after or after.isspace():
        return False
    if before == "\ufe0f" or "\U0001f3fb" <= before <= "\U0001f3ff":
        return unicodedata.category(after) == "So"
    if text[place] == "\u200d" and unicodedata.category(before) == "So":
        return unicodedata.category(after) == "So"
    return unicodedata.name(before, "").split(" ", 1)[0] in _JOINED_SCRIPTS
