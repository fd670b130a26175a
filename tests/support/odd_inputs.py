# ruff: noqa: E501, RUF001 (letters that look alike are what these inputs are about)
"""Odd inputs: scripts, signs, sizes, types, spellings, doubles. Every way in stores them alike."""

import unicodedata
from typing import Any

import psycopg

from tests.support.writing import EMOJI, WRITTEN

# Stored as they are.
PLAIN = [
    *WRITTEN, *EMOJI, "tab\tand\nlines", "a\u00a0b", "x" * 2000, "语" * 2000, "🦄" * 2000,
    "<script>alert(1)</script>", "Robert'); drop table students;--", "{{template}} ${HOME} %s %d",
    "C:\\new\\table", "\\u202e is six characters", "null", "None", "undefined", "NaN", "true", "0", "-1",
    "=1+1", "@here", "#tag", "- item", "1. first", "> quote", "```code```", "| a | b |", "[a](b)",
    "→ arrow", "works_at→Acme", "(proposed)", "83b14ef3", "9007199254740993", "1e400", "٣٤٥", "½",
    "http://example.com/?a=1&b=%20", "mail@example.com", "ERR-4711", "+49 89 5550 1234", "v1.2.3",
    "1,299.50", "2024-02-30", "00:60", "..", ".", "?", "!", "…", "¿qué?", "«quoted»", "„quoted“",
    "כתובת: \u200eMain 5", "می‌خواهم", "क्‍ष", "ﷺ", "ß", "İ", "ǆ", "Ω", "ﬃ", "𝔘", "\U0001f1e9\U0001f1ea",
]  # fmt: skip
# Stored without what hides text.
CLEANED = {
    "soft\u00adhyphen": "softhyphen", "zero\u200bwidth": "zerowidth", "\ufeffmark": "mark",
    "word\u2060joiner": "wordjoiner", "right\u202eleft": "rightleft", "iso\u2066late\u2069": "isolate",
    "\x1b[31mred\x1b[0m": "red", "bell\x07": "bell", "nul\x00byte": "nulbyte", "del\x7fete": "delete",
    "old\rmac": "old\nmac", "line\u2028end": "line\nend", "par\u2029end": "par\nend",
    "next\x85line": "next\nline", "form\x0cfeed": "form\nfeed", "dos\r\nline": "dos\nline",
    "tag\U000e0041ged": "tagged", "fill\u3164er": "filler", "join\u200der": "joiner",
    "pick\ufe00ed": "picked", "lat\u200ein": "latin", "non\ufffechar": "nonchar", "e\u0301t\u0301e": "\u00e9t\u0301e",
    "\U0001f3f4\U000e0075\U000e007f": "\U0001f3f4", "  around \n": "around",
}  # fmt: skip
SAME = [
    ("prefers green tea", "Prefers green tea."), ("is late again", "is late again."),
    ("élan is a word", "Élan is a word"), ("живёт в Москве", "Живёт в Москве."), ("x", "x."),
    ("喝茶", "喝茶。"), ("äpfel sind rot", "A\u0308pfel sind rot"), ("café au lait", "cafe\u0301 au lait"),
]  # fmt: skip
DIFFERENT = [
    ("flag is -n", "flag is -N"), ("userId", "userID"), ("table Users", "table users"), ("a  b", "a b"),
    ("Likes tea", "likes tea"), ("IBM is big here", "iBM is big here"), ("B2 is a code", "b2 is a code"),
    ("5 mW", "5 MW"), ("in Maßen", "in Massen"), ("likes tea?", "likes tea!"), ("..", "."), ("é", "e"),
    ("path/to/A", "path/to/a"), ("wait..", "wait"), ("a\nb", "a b"), ("Ω", "ω"), ("0:5", "0.5"),
]  # fmt: skip
TYPES = {
    "person": "person", "Person": "person", "people": "person", "customer": "person",
    "TeamMember": "person", "médico": "person", "Kollegin": "person", "ami": "person",
    "organization": "organization", "company": "organization", "team": "organization",
    "Empresa": "organization", "Verein": "organization", "équipe": "organization",
    "location": "location", "City": "location", "país": "location", "Straße": "location",
    "ville": "location", "project": "project", "repo": "project", "tool": "project",
    "service": "project", "product": "project", "feature": "project", "task": "project",
    "Werkzeug": "project", "herramienta": "project", "outil": "project", "preference": "preference",
    "habit": "preference", "Vorliebe": "preference", "fact": "fact", "event": "fact", "bug": "fact",
    "decision": "fact", "reunión": "fact", "Termin": "fact", "réunion": "fact", "concept": "concept",
    "document": "concept", "file": "concept", "animal": "concept", "libro": "concept",
    "droid": "concept", "Klingon": "concept", "猫": "concept", "тип": "concept", "x-y z": "concept",
    "🦄": "concept", "a" * 200: "concept",
}  # fmt: skip
RELATIONS = {
    "works_at": "works_at", "worksAt": "works_at", "works-at": "works_at", "Works At": "works_at",
    "WORKS_AT": "works_at", " works  at ": "works_at", "WorksAt": "works_at", "knows": "knows",
    "isA": "is_a", "hasURL": "has_url", "B2B": "b2b", "est_né_à": "est_né_à", "gehört zu": "gehört_zu",
    "знает": "знает", "知道": "知道", "maps→to": "maps_to", "leads -> to": "leads_to", "→": "→", "-": "-",
    "has\u200b_part": "has_part", "uses C++": "uses_c++", "1:n": "1:n", "🦄": "🦄",
}  # fmt: skip
TEXTS = [*PLAIN, *CLEANED]
PAIRS = [*SAME, *DIFFERENT]
Entity = dict[str, Any]


def write_entities(way: str) -> list[Entity]:
    """One entity for each input, named for the way and for the input."""
    entities = [(f"text {place}", "person", [text]) for place, text in enumerate(TEXTS)]
    entities += [(f"pair {place}", "person", [*pair]) for place, pair in enumerate(PAIRS)]
    entities += [(f"type {place}", word, ["is here"]) for place, word in enumerate(TYPES)]
    return [
        {"name": f"{way} {name}", "entityType": kind, "observations": texts}
        for name, kind, texts in entities
    ]


def write_relations(way: str) -> list[dict[str, str]]:
    """A relation of an entity to itself for each spelling."""
    names = [f"{way} text {place}" for place in range(len(RELATIONS))]
    return [
        {"from": name, "to": name, "relationType": label}
        for name, label in zip(names, RELATIONS, strict=True)
    ]


def list_expected() -> dict[str, object]:
    """What each entity holds, whatever the way in: its type, the given word, its facts."""
    stored: dict[str, object] = {}
    for place, text in enumerate(TEXTS):
        stored[f"text {place}"] = ("person", None, [expect_text(text)])
    for place, (one, other) in enumerate(PAIRS):
        texts = [one] if (one, other) in SAME else [one, other]
        stored[f"pair {place}"] = ("person", None, texts)
    for place, (word, kind) in enumerate(TYPES.items()):
        given_word = None if word.lower() == kind else word
        stored[f"type {place}"] = (kind, given_word, ["is here"])
    return stored


def list_stored(
    owner: psycopg.Connection, way: str
) -> dict[str, tuple[str, str | None, list[str]]]:
    rows = owner.execute(
        """
        select substr(e.name, %s), e.entity_type, nullif(free_type(e.entity_type, e.metadata), e.entity_type),
            array_agg(o.content order by o.ordinal)
        from entity e join fact o on o.space_id = e.space_id and o.entity_id = e.id
        where starts_with(e.name, %s) group by e.space_id, e.id""",
        (len(way) + 2, f"{way} "),
    ).fetchall()
    return {
        name: (kind, word if (word or "").lower() != kind else None, texts)
        for name, kind, word, texts in rows
    }


def list_relations(owner: psycopg.Connection, way: str) -> list[str]:
    rows = owner.execute(
        """select r.relation_type from relation r join entity e on e.space_id = r.space_id and e.id = r.from_entity
        where starts_with(e.name, %s) order by substring(e.name from '[0-9]+$')::integer""",
        (f"{way} ",),
    ).fetchall()
    return [kind for (kind,) in rows]


def find_differences(owner: psycopg.Connection, way: str) -> dict[str, object]:
    """What is stored in another way than expected."""
    expected, stored = list_expected(), list_stored(owner, way)
    different: dict[str, object] = {
        name: stored.get(name)
        for name in expected.keys() | stored.keys()
        if expected.get(name) != stored.get(name)
    }
    relations = list_relations(owner, way)
    return different | ({} if relations == list(RELATIONS.values()) else {"relations": relations})


def expect_text(text: str) -> str:
    """Return the stored form of one of TEXTS."""
    return CLEANED.get(text, unicodedata.normalize("NFC", text))


def find_different_texts(owner: psycopg.Connection, way: str) -> dict[str, object]:
    """Like find_differences(), for a way on which only the facts of entities are written."""
    stored = list_stored(owner, way)
    found = {name: texts for name, (_, _, texts) in stored.items()}
    expected = {f"text {place}": [expect_text(text)] for place, text in enumerate(TEXTS)}
    return {name: found.get(name) for name in expected if found.get(name) != expected[name]}
