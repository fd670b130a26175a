"""A new import format: a JSON array of slips, each with a subject and a text."""

from tests.golden.patch import Patch

_MODULE = '''"""Slips: a JSON array of texts, each with the subject that it is about."""

from collections.abc import Iterator

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import ImportFormat, name_once, read_parts
from textrawl.archive.items import Entity, Fault, ImportedFact, Item


def _is_slips(bundle: Bundle) -> bool:
    """Return whether the file is an array of slips."""
    return b'"slip"' in bundle.read_first_head()


def _read_slips(bundle: Bundle) -> Iterator[Item]:
    """Yield each slip as a fact about its subject."""
    for name in bundle.sizes:
        for place, row in read_parts(bundle, name, "slip"):
            about, text = row.text("subject").strip(), row.text("slip")
            if not about or not text.strip():
                yield Fault(place, "it has no subject or no text")
                continue
            yield Entity(f"entity {about}", about)
            yield ImportedFact(row.text("id") or place, about, text, row.time("at"))


FORMAT = ImportFormat("slips", "Slips", _is_slips, lambda bundle: name_once(_read_slips(bundle)))
'''
_WRITER = """def _write_slips(folder: Path) -> Path:
    rows = [
        {"id": str(place), "subject": "Ada", "slip": line} for place, line in enumerate(LINES)
    ]
    return write_json(folder / "slips.json", rows)


"""
_ROW = "| Slips | `slips` | its box as JSON | slips as facts | their order |\n"

PATCH = Patch(
    files={"textrawl/archive/formats/slips.py": _MODULE},
    edits=(
        ("textrawl/archive/detection.py", ")\nfrom textrawl.archive.items", "    slips,\n"),
        (
            "textrawl/archive/detection.py",
            "        *markdown.FORMATS,\n",
            "        slips.FORMAT,\n",
        ),
        ("tests/archive/test_true_texts.py", "def _write_rules(", _WRITER),
        (
            "tests/archive/test_true_texts.py",
            '    "rules": (\n',
            '    "slips": (_write_slips, (_as_it_is,), False),\n',
        ),
        ("docs/bring-what-you-have.md", "| rules of agents |", _ROW),
    ),
    tests=(
        "tests/archive/test_true_texts.py",
        "tests/archive/test_memories.py::test_a_file_of_which_nothing_is_imported_is_no_success",
        "tests/quality/test_house_rules.py",
    ),
)
