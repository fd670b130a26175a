"""An import, `connect` and `stats` say that another model fits the languages of the memory."""

import json
from pathlib import Path

import pytest

from tests.support.commands import Run, type_answer

OFFER = "textrawl embed start --provider encoder --model multilingual-e5-small-q4"
GERMAN = [
    "Wie heißt der Sauerteig, den ich von der Nachbarin bekommen habe?",
    "Er heißt Gustav und steht in der Küche neben dem Herd.",
    "Wann muss ich ihn wieder mit Mehl und Wasser füttern?",
]
ENGLISH = [
    "What is the name of the starter that I got from my neighbour?",
    "It is called Gustav, and it stands in the kitchen next to the oven.",
    "When do I have to feed it with flour and water again?",
]


def _write(path: Path, texts: list[str]) -> str:
    chats = [
        {
            "uuid": f"{path.stem}{number}",
            "name": f"Chat {number}",
            "created_at": "2026-05-01T10:00:00Z",
            "updated_at": "2026-05-01T10:00:00Z",
            "chat_messages": [
                {
                    "uuid": f"{path.stem}m{number}",
                    "sender": "human",
                    "text": text,
                    "created_at": "2026-05-01T10:00:00Z",
                }
            ],
        }
        for number, text in enumerate(texts)
    ]
    path.write_text(json.dumps(chats), "utf-8")
    return str(path)


def test_an_import_in_another_language_offers_once_the_model_for_it(
    run: Run, data_dir: Path, tmp_path: Path
) -> None:
    german = _write(tmp_path / "german.json", GERMAN)
    english = _write(tmp_path / "english.json", ENGLISH)
    more = _write(tmp_path / "more.json", [f"{text} Das ist wichtig." for text in GERMAN])

    said = [run("import", path, "--yes", DATA_DIR=data_dir).err for path in (english, german, more)]

    assert [OFFER in text for text in said] == [False, True, False], said
    assert "50% of the newest texts are English" in said[1]
    assert "91 MB" in said[1]


@pytest.mark.slow
def test_connect_offers_it_when_it_asks_who_is_there(
    run: Run, data_dir: Path, tmp_path: Path
) -> None:
    for text in GERMAN:
        run("remember", "Gustav", text, DATA_DIR=data_dir)
    places = {"DATA_DIR": str(data_dir), "HOME": str(tmp_path)}

    said = [type_answer("y\nZoe", "connect", "claude-code", **places).err for _ in range(2)]

    assert ["You are Zoe" in text for text in said] == [True, False], said
    assert [OFFER in text for text in said] == [True, False], said


def test_statistics_offer_it_from_the_hundredth_fact_on(
    run: Run, data_dir: Path, tmp_path: Path
) -> None:
    texts = [f"{GERMAN[number % 3]} {number}" for number in range(99)]
    gustav = {"type": "entity", "name": "Gustav", "entityType": "dough", "observations": texts}
    (tmp_path / "memory.json").write_text(json.dumps(gustav), "utf-8")
    assert run("import", str(tmp_path / "memory.json"), "--yes", DATA_DIR=data_dir).code == 0

    before = run("stats", DATA_DIR=data_dir)
    run("remember", "Gustav", GERMAN[0], DATA_DIR=data_dir)
    after = run("stats", DATA_DIR=data_dir)

    assert [OFFER in one.err for one in (before, after)] == [False, True], (before, after)
    assert OFFER not in after.out
