"""The texts of real files, which the tests write."""

from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from textrawl.memory.documents import FileRefused, clean_text, find_files, hash_file, read_file
from textrawl.values.text import clean_document

PAGE = """<!doctype html><html><head><title>Meals</title><style>p {color: red}</style></head>
<body><nav>Home</nav><h2>Tea &amp; coffee</h2><script>alert(1)</script>
<p>Tea is <b>served</b> at four.</p><ul><li>green</li><li>black</li></ul>
<table><tr><th>drink</th><th>price</th></tr><tr><td>tea</td><td>2</td></tr></table></body></html>"""

Write = Callable[[str, bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file; its path."""

    def go(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return go


def write_pdf(path: Path, pages: list[str], password: str | None = None) -> Path:
    """A PDF with a line of text on each page."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for line in pages:
        page = writer.add_blank_page(300, 300)
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})  # pyright: ignore[reportPrivateUsage]
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 200 Td ({line}) Tj ET".encode() if line else b"")
        page[NameObject("/Contents")] = writer._add_object(stream)  # pyright: ignore[reportPrivateUsage]
    if password:
        writer.encrypt(password)
    with path.open("wb") as file:
        writer.write(file)
    return path


def test_html_is_read_as_markdown_without_scripts_and_navigation(write: Write) -> None:
    text = read_file(write("meals.html", PAGE.encode())).text

    assert text.splitlines()[:5] == [
        "# Meals",
        "",
        "## Tea & coffee",
        "",
        "Tea is **served** at four.",
    ]
    assert "- drink tea, price 2" in text
    assert not any(word in text for word in ("alert", "Home", "color"))


def test_the_encoding_that_a_page_names_is_used(write: Write) -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body>Käse</body></html>'

    assert read_file(write("k.htm", page.encode("latin-1"))).text == "Käse"


def test_each_row_of_a_table_names_its_cells_wherever_the_table_is_cut(write: Write) -> None:
    rows = [f"| svc-{number} | {7000 + number} | team-{number % 30} |" for number in range(320)]
    table = "\n".join(["| service | port | |", "|---|:-:|---|", *rows])
    code = "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n\n| no | table |\n"
    sheet = 'name;said\nAda;"tea; and\nmilk"\n;alone;more\n'

    long = read_file(write("services.md", f"# Services\n\n{table}\n\n{code}".encode()))
    lines = long.text.split("\n")

    assert len(long.chunks) > 1
    assert lines[4 + 17] == "- service svc-17, port 7017, team-17"
    assert "\n".join(lines[-8:]) == code
    assert read_file(write("sheet.csv", sheet.encode())).text == (
        "name;said\nname Ada, said tea; and milk\nsaid alone, more"
    )
    tabs = read_file(write("sheet.tsv", b"port\tname\n7\tx, y\n"))
    assert tabs.text == "port\tname\nport 7, name x, y"


def test_a_mail_is_decoded_with_its_subject_and_the_names_of_its_files(write: Write) -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "Ann <ann@example.com>", "Hafengebühr"
    mail.set_content("The mooring fee is €310.", cte="base64")
    mail.add_attachment(b"%PDF", "application", "pdf", filename="bill.pdf")
    page = EmailMessage()
    page["To"] = "bob@example.com"
    page.set_content("<p>Fee: <b>€90</b>, as we said thrice</p>", "html", cte="quoted-printable")
    box = b"".join(b"From ann Tue Mar  4 2025\n" + bytes(one) + b"\n" for one in (mail, page))
    first = "# Hafengebühr\nFrom: Ann <ann@example.com>\n\nThe mooring fee is €310.\n[bill.pdf]"

    assert read_file(write("a.eml", bytes(mail))).text == first
    letter = b"Subject: Hi\n\nDear Bob,\n\nFrom May on it is 320.\nAnn\n"
    assert read_file(write("b.eml", letter)).text.endswith("\n\nFrom May on it is 320.\nAnn")
    both = read_file(write("a.mbox", box)).text
    assert both.startswith(first)
    assert both.endswith("# Mail\nTo: bob@example.com\n\nFee: **€90**, as we said thrice")


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "meals.pdf", ["Tea at four.", "Coffee at nine."])

    found = read_file(path)

    assert found.text == "Tea at four.\n\nCoffee at nine."
    assert found.sha256 == hash_file(path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"Tea\r\nat\rfour", "Tea\nat\nfour"),
        ("\ufeffTea".encode(), "Tea"),
        ("Tea".encode("utf-16"), "Tea"),
        ("Te\u200ba\u202e at\x00 four".encode("utf-16"), "Tea at four"),
        (b"one\x0ctwo", "one two"),
        ("Ein Stück Käse, größer als üblich, für die Gäste. ".encode("latin-1") * 9, None),
    ],
)
def test_texts_in_common_encodings_are_read(write: Write, content: bytes, text: str | None) -> None:
    found = read_file(write("meals.txt", content)).text

    assert found == text if text else found.startswith("Ein Stück Käse, größer")


@given(st.text(st.characters(codec="utf-8")))
def test_a_clean_text_has_no_character_that_hides_text(text: str) -> None:
    cleaned = clean_text(text)

    assert clean_document(cleaned) == cleaned == clean_text(cleaned)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", b" \n ", "no text"),
        ("a.txt", b"\x7fELF\x00\x01", "not a text"),
        ("a.html", b"<html><body></body></html>", "no text"),
        ("a.pdf", b"%PDF-1.7 nonsense", "not a PDF that can be read"),
        ("a.pdf", b"", "not a PDF that can be read"),
        ("a.md", b"x" * 5_000_001, "split it"),
    ],
)
def test_a_file_without_a_text_is_refused_with_the_reason(
    write: Write, name: str, content: bytes, reason: str
) -> None:
    with pytest.raises(FileRefused, match=reason):
        read_file(write(name, content))


def test_a_pdf_of_pictures_and_a_pdf_with_a_password_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="pages have no text"):
        read_file(write_pdf(tmp_path / "a.pdf", [""]))
    with pytest.raises(FileRefused, match="needs a password"):
        read_file(write_pdf(tmp_path / "b.pdf", ["Tea"], "secret"))


@pytest.mark.parametrize("name", ["a.pdf", "a.html", "a.txt", "a.py", "a.md"])
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    whole = {
        "a.pdf": write_pdf(folder / "whole.pdf", ["Tea at four.", "Coffee at nine."]).read_bytes()
    }.get(name, PAGE.encode())

    @given(
        cut=st.integers(0, len(whole)), place=st.integers(0, len(whole)), put=st.binary(max_size=9)
    )
    def read(cut: int, place: int, put: bytes) -> None:
        (folder / name).write_bytes(whole[:place] + put + whole[place + cut % 40 :])
        with suppress(FileRefused):
            assert read_file(folder / name).chunks

    read()


@pytest.mark.parametrize(
    "page", ["<?xml version='1.0'?><!-- no --><p>{}</p>", "{}", "http://{}", "<!doctype html>{}"]
)
def test_only_the_text_of_an_odd_page_is_read(write: Write, page: str) -> None:
    text = read_file(write("odd.xhtml", page.format("Tea.at.four").encode())).text

    assert text.removeprefix("http://") == "Tea.at.four"


def test_a_deeply_nested_page_is_read(write: Write) -> None:
    page = b"<div>" * 5000 + b"Tea at four." + b"</div>" * 5000

    assert read_file(write("deep.html", page)).text.strip() == "Tea at four."


@pytest.mark.parametrize(
    ("name", "module"), [("a.pdf", "pypdf"), ("a.html", "bs4"), ("a.txt", "charset_normalizer")]
)
def test_without_the_extra_the_refusal_names_it(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)

    with pytest.raises(FileRefused, match=r"textrawl\[documents\]"):
        read_file(write(name, b"K\xe4se"))


def test_a_folder_gives_its_documents_with_their_paths(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "sub/b.HTML", "sub/README", ".git/c.md", "d.png", "node_modules/e.md"):
        write(f"docs/{name}", b"Tea")
    (tmp_path / "docs" / "link.md").symlink_to("a.md")

    found = find_files([tmp_path / "docs"])
    monkeypatch.chdir(tmp_path)
    again = find_files([Path("docs"), Path("docs/a.md")])
    single = find_files([Path("docs/d.png")])

    names = ["docs/a.md", "docs/sub/README", "docs/sub/b.HTML"]
    assert [file.name for file in found.files] == [file.name for file in again.files] == names
    assert found.left_out == again.left_out == ["docs/d.png", "docs/link.md"]
    assert [file.path for file in single.files] == ["file/docs/d.png"]


def test_two_files_of_one_path_are_refused(write: Write) -> None:
    named = [write("one/docs/a.md", b"Tea").parent, write("two/docs/a.md", b"Coffee").parent]

    with pytest.raises(ValueError, match=r"would both become docs/a\.md"):
        find_files(named)


def test_a_long_path_keeps_its_end(write: Write) -> None:
    [found] = find_files([write("/".join(["a" * 100] * 4) + "/end.md", b"Tea").parents[3]]).files

    assert (len(found.path), len(found.label)) == (300, 200)
    assert found.path.endswith("/end.md")
    assert found.label.endswith("/end.md")
