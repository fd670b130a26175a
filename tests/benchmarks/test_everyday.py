"""The data of benchmarks.everyday are well-formed."""

import re

import pytest

from benchmarks.everyday import FILES, HELD, LANGUAGES, Life, read_life, read_unknown

SIZES = {"lives": (120, 120), "one_hop": (60, 60), **dict.fromkeys(LANGUAGES, (40, 50))}


@pytest.mark.parametrize("name", SIZES)
def test_each_question_has_right_facts_of_its_own(name: str) -> None:
    life = read_life(name)
    texts = [fact["observation"] for fact in life.facts]
    facts, questions = SIZES[name]
    rights = [part for question in life.questions for part in question.right]
    asked = [question.text for question in life.questions]

    assert len(texts) >= facts
    assert len(asked) >= questions
    assert [part for part in rights if sum(part in text for text in texts) != 1] == []
    assert len(set(asked)) == len(asked)
    held = sum(question.held for question in life.questions)
    assert len(asked) / (HELD + 2) < held < len(asked) / (HELD - 1)


def test_a_hop_starts_at_an_entity_that_the_question_names() -> None:
    life = read_life("one_hop")
    ends = {relation["toEntity"]: relation["fromEntity"] for relation in life.relations}
    subjects = {fact["observation"]: fact["entityName"] for fact in life.facts}

    for question in life.questions:
        subject = subjects[question.right[0]]
        assert ends[subject] in question.text
        assert subject not in question.text


def test_no_fact_has_the_key_word_of_a_question_without_answer() -> None:
    text = list_words(read_life("lives"))
    questions = read_unknown()

    assert len(questions) == 100
    assert len({question.text for question in questions}) == 100
    assert [q.missing for q in questions if q.missing.lower() in text] == []
    assert [q.text for q in questions if q.missing.lower() not in q.text.lower()] == []


def list_words(life: Life) -> str:
    facts = [" ".join(fact.values()) for fact in life.facts]
    return "\n".join(facts).lower()


def test_200_answers_are_judged_once() -> None:
    lines = (FILES / "judged.txt").read_text("utf-8").splitlines()
    judged = [
        (name, int(question), int(mark[:-1]))
        for name, question, *marks in map(str.split, lines)
        for mark in marks
        if re.fullmatch(r"\d+[+-]", mark)
    ]

    assert len(judged) == len(set(judged)) == 200
