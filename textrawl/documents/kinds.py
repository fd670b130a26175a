"""The kinds of files, by the ends of their names."""

from pathlib import PurePath

HTML = frozenset({".html", ".htm", ".xhtml"})
PDF = ".pdf"
MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})
TEXTS = frozenset(
    {"", ".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".sql", ".sh", ".bash"}
)
LANGUAGES = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
}
"""Programming languages. If the grammar of a language is installed, the grammar cuts its files.

Bash is not here, because its grammar crashes the process on some texts.
"""
DOCUMENTS = HTML | {PDF} | MARKDOWN | TEXTS | LANGUAGES.keys()
"""The ends of the names of files that are taken out of a folder."""


def find_kind(name: str) -> str:
    """Return the kind of a file for `chunk_text`: markdown, text or a programming language."""
    ending = find_ending(name)
    return "markdown" if ending in MARKDOWN | HTML else LANGUAGES.get(ending, "text")


def find_ending(name: str) -> str:
    """Return the end of a name with its dot, in lower case. It is empty for a name like README."""
    return PurePath(name).suffix.lower()
