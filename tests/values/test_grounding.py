"""A claim of an LLM is kept only if a sentence of its text says it."""

from collections import Counter
from contextlib import suppress
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.grounding import answer, read_parts, read_passages, spoil
from textrawl.values.grounding import Evidence, Grounding, Unsupported

LOST = 0.2  # of the claims that a text says; each one says it in other words
WRONG = (
    ("Ben knows Ada.", ["Ada", "knows Ben"]),
    ("Ann met Eve; then she left.", ["Ann", "left"]),
    ("Tim met Bob. Then he left Acme.", ["Bob", "left Acme"]),
    ("The drummer was Lola.", ["Lola", "is the drummer"]),
    ("The drummer is Lola.", ["Lola", "was the drummer"]),
    ("The manager called Ben.", ["Ben", "is the manager"]),
    ("Ann had a dog.", ["Ann", "has a dog"]),
    ("Ann's brother works at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann says Tim works at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann worked at Acme until 2020.", ["Ann", "works_at", "Acme"]),
    ("The manager of Ann is Tim.", ["Ann", "manages", "Tim"]),
    ("Ann reports to Tim.", ["Ann", "manages", "Tim"]),
    ("Ann manages Tim.", ["Ann", "reports_to", "Tim"]),
    ("Acme belongs to Globex.", ["Acme", "owns", "Globex"]),
    ("Ann argues with Tim.", ["Ann", "works_with", "Tim"]),
    ("Ann moved from Oslo.", ["Ann", "born_in", "Oslo"]),
    ("Ann moved from Oslo.", ["Ann", "located_in", "Oslo"]),
    ("Ann is not related to Tim.", ["Ann", "related_to", "Tim"]),
    ("If Ann wins, Tim leaves.", ["Ann", "related_to", "Tim"]),
    ("Rumour has it that Ann met Tim.", ["Ann", "related_to", "Tim"]),
    ("Neither Ann nor Tim works here.", ["Ann", "related_to", "Tim"]),
    ("Ann left her job at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann lost her job at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann quit working at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann rejected the job at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann was interviewed at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann is eating lunch at Acme.", ["Ann", "works_at", "Acme"]),
    ("Tom was the CEO of Acme.", ["Tom", "CEO of Acme"]),
    ("Ann was allergic to nuts.", ["Ann", "allergic to nuts"]),
    ("Ann had a house in Rome.", ["Ann", "a house in Rome"]),
    ("如果下雨、李娜在家工作。", ["李娜", "在家工作"]),
    ("也许、李娜在上海工作。", ["李娜", "在上海工作"]),
    ("たぶん、ユキは家で働く。", ["ユキ", "は家で働く"]),
)
RIGHT = (
    ("Ann met Tim.", ["Ann", "related_to", "Tim"]),
    ("Ann is a trained nurse at Acme.", ["Ann", "works_at", "Acme"]),
    ("Ann has a job at Acme.", ["Ann", "works_at", "Acme"]),
    ("Tom was the CEO of Acme.", ["Tom", "was the CEO of Acme"]),
    ("李娜在上海工作。", ["李娜", "在上海工作"]),
)


def test_no_claim_that_a_text_does_not_say_is_kept_and_few_that_it_says_are_lost() -> None:
    asked, lost, invented = 0, Counter[str](), list[list[str]]()
    for passage in chain.from_iterable(read_parts().values()):
        grounding = Grounding(passage.text)
        for claim in passage.yes:
            asked += 1
            lost.update(filter(None, [answer(grounding, claim)]))
        wrong = [*passage.no, *(bad for one in passage.yes for _, bad in spoil(one))]
        invented += [claim for claim in wrong if answer(grounding, claim) is None]

    assert invented == []
    assert lost.total() <= LOST * asked, lost


def test_nobody_gets_what_a_sentence_says_of_somebody_else_or_of_another_time() -> None:
    judged = [(p.text, one) for p in read_passages("grounding_judged") for one in p.no]
    for text, claim in (*WRONG, *judged):
        assert answer(Grounding(text), claim) is not None, (text, claim)
    for text, claim in RIGHT:
        assert answer(Grounding(text), claim) is None, (text, claim)


def test_the_evidence_is_a_sentence_of_the_text() -> None:
    text = " Ada moved. \n\n She lives in Rome since 2020! Ben\u2019s dog is old."

    said = Grounding(text).support_fact("Ada", "lives in Rome since 2020")

    assert said == Evidence("She lives in Rome since 2020!", text.index("She"))


def test_a_text_that_invents_a_name_or_a_number_is_told() -> None:
    grounding = Grounding("On Monday Ada bought 3 lamps in Rome.")

    assert grounding.find_invention("Ada's lamps: three, from Rome. Bought on Monday") is None
    assert grounding.find_invention("It was Eve who bought them") == "Eve"
    assert grounding.find_invention("She bought 30 lamps") == "30"


@given(st.text(), st.text(), st.text())
def test_any_text_and_any_claim_is_supported_or_not(text: str, entity: str, claim: str) -> None:
    grounding = Grounding(text)
    with suppress(Unsupported):
        said = grounding.support_fact(entity, claim)
        assert text[said.start :].startswith(said.text)
    with suppress(Unsupported):
        said = grounding.support_relation(entity, claim, entity)
        assert text[said.start :].startswith(said.text)
    grounding.find_invention(claim)
