"""Python's own library and its help texts as a corpus of documents, with questions about them.

Every Python has these files, so the benchmark runs on any machine. The questions were written by
hand, one a line: `question | answer, answer`. An answer is a document, or a folder with a / at its
end. The words of the questions are not taken from the documents.
"""

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from pydoc_data.topics import topics

QUESTIONS = Path(__file__).parent / "questions" / "python_library.txt"
_LEFT_OUT = {"encodings", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "turtledemo"}


@dataclass(frozen=True)
class Question:
    """A question with the documents that answer it."""

    text: str
    answers: tuple[str, ...]

    def find(self, documents: list[str]) -> int | None:
        """Return the place of the first document that answers the question, from 1."""
        folders = tuple(answer for answer in self.answers if answer.endswith("/"))
        for place, document in enumerate(documents, 1):
            if document in self.answers or document.startswith(folders):
                return place
        return None


def read_questions() -> list[Question]:
    """Return all questions."""
    lines = QUESTIONS.read_text("utf-8").splitlines()
    pairs = [line.split(" | ") for line in lines]
    return [Question(text, tuple(answers.split(", "))) for text, answers in pairs]


def write_corpus(folder: Path, most: int | None = None) -> int:
    """Write at most `most` documents of each kind to a folder. Return their number."""
    library = Path(sysconfig.get_path("stdlib"))
    modules = [
        path for path in sorted(library.rglob("*.py")) if _is_library(path.relative_to(library))
    ]
    texts = {
        f"library/{path.relative_to(library).as_posix()}": path.read_bytes()
        for path in modules[:most]
    }
    texts |= {f"topics/{name}.txt": topics[name].encode() for name in sorted(topics)[:most]}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    return len(texts)


def _is_library(path: Path) -> bool:
    top = path.parts[0]
    hidden = top.startswith(("_sysconfigdata", "config-", "pydoc_data", "__phello__"))
    return not hidden and not _LEFT_OUT & set(path.parts) and "tests" not in path.parts
