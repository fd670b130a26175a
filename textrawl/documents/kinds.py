"""The kinds of files, by the ends of their names."""

from pathlib import PurePath

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})
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
    ".sh": "bash",
    ".bash": "bash",
}
"""Programming languages. If the grammar of a language is installed, the grammar cuts its files."""


def find_kind(name: str) -> str:
    """Return the kind of a file for `chunk_text`: markdown, text or a programming language."""
    ending = PurePath(name).suffix.lower()
    return "markdown" if ending in MARKDOWN else LANGUAGES.get(ending, "text")
