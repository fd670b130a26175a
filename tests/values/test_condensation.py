"""A text of any length becomes a query of at most 1,000 characters."""

from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.support.long_prompts import KINDS, list_long_prompts
from textrawl.values.condensation import condense, list_name_keys, read_prose
from textrawl.values.pasted import remove_pasted
from textrawl.values.text import PROMPT_LENGTH, QUERY_LENGTH, clean_name, clean_query

LOG = "".join(
    f"2026-11-25 10:11:{n % 60:02d} INFO worker {n} sent a heartbeat\n" for n in range(60)
)
PIECES = st.sampled_from(
    ["What is Zephyr's code?", "Ada met Ben.", "何ですか", "  at a.b(C.java:3)", "```", "+  x = 1",
     "\n", "@@ -1,9 +1,9 @@",
     "{", "? ", "؟", "\u202e", "\u0301", "\x00", "a" * 400, "INFO: ", "漢", "🇹"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=3000), st.lists(PIECES, max_size=400).map("".join)))
@example("(" * 50_000)
@example("x" * PROMPT_LENGTH)
@example("\n" * PROMPT_LENGTH)
@example("Why? " * 20_000)
def test_any_text_is_condensed_to_a_query_and_a_short_one_stays(text: str) -> None:
    query = clean_query(text)
    found = condense(query)

    assert len(found) <= QUERY_LENGTH
    assert condense(found) == found
    if len(clean_name(text)) <= QUERY_LENGTH:
        assert found == clean_name(text) or len(text) > 2 * QUERY_LENGTH
    assert len(read_prose(text).write_query()) <= QUERY_LENGTH


def test_nothing_of_a_pasted_text_and_all_of_the_question_is_left() -> None:
    faults = [
        (prompt.kind, prompt.place, query)
        for prompt in list_long_prompts(66, seed=7)
        if len(query := read_prose(prompt.text).write_query()) > len(prompt.known.question) + 80
        or prompt.known.question not in query
    ]

    assert len(KINDS) >= 10
    assert faults == []


def test_questions_count_first_and_else_requests_names_and_the_ends() -> None:
    filler = " ".join(f"The garden number {n} was green and wide." for n in range(40))
    pasted = " ".join(f"How old is the garden number {n}?" for n in range(40))
    for text, known, query in (
        (f"Where is Falcon? So I ask. {pasted} So it says. Thanks.", [], "Where is Falcon?"),
        (f"{filler} {pasted} Who knows Falcon? {pasted}\nThanks.\nWhere does Ada live?", ["falcon"],
         "Who knows Falcon? Where does Ada live?"),
        (f"{filler} Where is Falcon? {filler}", [], "Where is Falcon?"),
        (f"Falcon is old. {filler} Where is it? {filler}", ["falcon"],
         "Falcon is old. Where is it?"),
        (f"Is it so? {filler} Where is Falcon?", ["falcon"], "Where is Falcon?"),
        (f"{filler} Tell me the age of Falcon. {filler}", [], "Tell me the age of Falcon."),
        (f"{filler} Sag mir das Alter. {filler}", [], "Sag mir das Alter."),
        (f"{filler} Dime la edad. {filler}", [], "Dime la edad."),
        (f"{filler} Rappelle-moi son âge. {filler}", [], "Rappelle-moi son âge."),
        (f"{filler}\n桜計画の締め切りを教えて。\n{filler}", [], "桜計画の締め切りを教えて。"),
        (f"{filler}\nكم عمر زيد\n{filler}", [], "كم عمر زيد"),
        (f"{filler}\nלמה הנץ רץ\n{filler}", [], "למה הנץ רץ"),
    ):  # fmt: skip
        prose = read_prose(text)
        assert prose.write_query([key for key in known if key in prose.keys]) == query

    quiet = read_prose(f"First words. {filler} We met old Falcon. {filler} Last words.")
    found = quiet.write_query(["falcon"])
    assert found.startswith("First words. ")
    assert found.endswith("Last words.")
    assert "We met old Falcon." in found


def test_a_log_alone_and_words_alone_are_searched_by_their_ends() -> None:
    assert remove_pasted(LOG) == ""
    assert condense(LOG).startswith("2026-11-25 10:11:00 INFO worker 0 sent")
    words = " ".join(f"word{'abcdefghij'[n % 10]}" for n in range(400))
    assert condense(words).startswith("worda wordb")
    assert condense(words).endswith("wordi wordj")
    one_line = condense(f"{LOG.replace(chr(10), ' ')} Where is Falcon?")
    assert one_line == "sent a heartbeat Where is Falcon?"


def test_names_are_looked_up_in_the_spellings_of_sentences() -> None:
    for sentence, name in (
        ("Where is (Project Zephyr)?", "project zephyr"), ("Zephyr's code", "zephyr"),
        ("Zephyrs Code", "zephyr"), ("we use C++.", "c++"), ("about .NET, please", ".net"),
        ("Acme Corp. is ours", "acme corp."), ("STRASSE und Straße", "strasse"),
        ("桜計画の締め切り", "桜計画"), ("למשרד של אבי", "משרד"), ("والنخلة", "نخلة"),
        ("the University of Old Bonn", "university of old bonn"),
    ):  # fmt: skip
        assert name in set(list_name_keys(sentence)), sentence
    assert {"it", "a"}.isdisjoint(list_name_keys("It is a plan"))
