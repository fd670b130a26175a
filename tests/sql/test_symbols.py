"""Signs in names, and codes that people write in several ways: found by words alone."""

from typing import Any

import psycopg

Sql = psycopg.Connection[Any]

FACTS = {
    "C": "has manual memory", "C++": "has templates", "C#": "has garbage collection",
    "F#": "has pipes", ".NET": "has a runtime", "Net": "has holes",
    "Build": "broke with 3f2a9c1d7b", "Other build": "broke with 4f2a9c1d7b",
    "Log": "says ERR-4711 at start", "Other log": "says ERR-4712 at start",
    "Kim": "has the number +49 89 5550 1234", "Lea": "has the number +49 89 5550 4321",
    "Invoice": "is over 1,299.50 euros", "Other invoice": "is over 299.50 euros",
    "Mona": "تحب القهوة", "Omar": "يحب الشاي",
}  # fmt: skip
QUESTIONS = {
    "what does C# have": "C#", "what does C++ have": "C++", "C": "C", "what does F# have": "F#",
    "what does .NET have": ".NET", "C#": "C#", "which net has holes": "Net",
    "3f2a9c1": "Build", "3F2A9C1D7B": "Build", "4f2a9c1": "Other build", "err4711": "Log",
    "ERR-4711": "Log", "ERR 4712": "Other log", "+4989 55501234": "Kim",
    "+49 (89) 5550-4321": "Lea", "1299.50": "Invoice", "1,299.50": "Invoice",
    "299.50": "Other invoice", "قهوة": "Mona", "القهوة": "Mona", "شاي": "Omar",
}  # fmt: skip


def test_names_with_signs_and_codes_in_another_spelling_are_found_by_words_alone(sql: Sql) -> None:
    for name, fact in FACTS.items():
        sql.execute("select remember_fact(%s, 'concept', %s)", (name, fact))

    found = {
        question: next(
            iter(sql.execute("select entity_name from search_memory(%s) limit 1", (question,))),
            None,
        )
        for question in QUESTIONS
    }

    assert found == {question: (name,) for question, name in QUESTIONS.items()}
