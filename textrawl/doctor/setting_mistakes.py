"""Mistakes in the environment and in `.env` files that would otherwise go unnoticed."""

from collections import Counter
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING

from textrawl.environment import (
    PREFIX,
    SETTINGS,
    EnvFile,
    ValueSource,
    find_value,
    is_setting,
    parse_file,
    read_environment,
    read_files,
    write_name,
)

if TYPE_CHECKING:
    from dotenv.parser import Binding

_LONG = 12  # letters: a long name of a setting can be meant despite two typos, others despite one
_DISTINCT = 8  # letters: shorter names of settings are too similar to names of other programs

DROPPED = {
    "EMBEDDING_TIMEOUT": "an embedding provider has 5 seconds to answer",
    "IMPORT_DIR": f"the graph toolset's `migrate` reads the folder `import` in {PREFIX}DATA_DIR",
    "OAUTH_AUDIENCE": f"tokens of the identity provider are for {PREFIX}PUBLIC_URL with /mcp",
    "TOKENIZER": "tokens are counted in o200k_base",
}
"""Names of former settings. Each value says what is used instead."""


def find_mistakes() -> list[str]:
    """Return a line for each mistake, and for each `.env` that is not trusted. Raises StartRefused.

    A mistake is a line of a file that is not an assignment, a former setting, or a name that is
    probably a misspelt setting. All programs share the environment. Therefore a name in the
    environment without TEXTRAWL_ is compared only with long names of settings.
    """
    files = read_files()
    sources = [read_environment(), *map(parse_file, files)]
    unset = [name.upper() for name in sorted(SETTINGS) if find_value(name, sources) is None]
    bad_lines = [line for file in files for line in _find_bad_lines(file)]
    bad_names = [line for source in sources for line in _check_names(source, unset)]
    if all(source.trusted for source in sources):
        return [*bad_lines, *bad_names]
    from textrawl.settings import find_withheld  # noqa: PLC0415 - seldom needed, and takes 300 ms

    return [*bad_lines, *bad_names, *find_withheld()]


def find_ignored() -> list[str]:
    """Return a line for each shared `.env` that has settings which are ignored there.

    They have no prefix TEXTRAWL_ and can belong to another program, or the user has not trusted the
    folder. Raises StartRefused.
    """
    from textrawl.settings import find_withheld  # noqa: PLC0415 - see `find_mistakes`

    lines = find_withheld()
    for file in (one for one in read_files() if one.shared):
        parts = _parse(file.content.decode("utf-8", "replace"))
        found = dict.fromkeys(part.key.upper() for part in parts if part.key)
        if names := [name for name in found if name.lower() in SETTINGS]:
            lines.append(
                f"{file.label} sets {', '.join(names)}, which textrawl ignores there: write "
                f"{PREFIX}{names[0]}, or name the file with --env-file"
            )
    return lines


def _find_bad_lines(file: EnvFile) -> Iterator[str]:
    if file.find_fault() or (file.shared and not file.mentions(PREFIX)):
        return
    for part in _parse(file.decode()):
        if part.error and (not file.shared or PREFIX in part.original.string.upper()):
            yield (
                f"Line {part.original.line} of {file.label} is ignored: write NAME=value, "
                "and close every quote"
            )


def _parse(text: str) -> "Iterator[Binding]":
    from dotenv.parser import parse_stream  # noqa: PLC0415 - most starts have no file

    return parse_stream(StringIO(text))


def _check_names(source: ValueSource, unset: list[str]) -> Iterator[str]:
    place = f"the {source.label}" if source.label == "environment" else source.label
    for name in (*source.values, *sorted(source.withheld)):
        prefixed = name.startswith(PREFIX)
        if is_setting(name) or (source.shared and not prefixed):
            continue
        bare = name.removeprefix(PREFIX)
        if bare in DROPPED:
            yield f"{name} in {place} is no longer a setting: {DROPPED[bare]}"
            continue
        ours = prefixed or source.label != "environment"
        if similar := _find_similar_name(bare, unset, ours=ours):
            yield f"{name} in {place} is not a setting: did you mean {write_name(similar)}?"


def _find_similar_name(name: str, unset: list[str], *, ours: bool) -> str | None:
    for setting in unset:
        most = 2 if len(setting) >= _LONG else 1
        if abs(len(name) - len(setting)) > most or not (ours or len(setting) >= _DISTINCT):
            continue
        # A typo changes one letter, and rapidfuzz would be loaded at every start without this look.
        different = Counter(name) - Counter(setting)
        if different.total() <= most and _count_typos(name, setting) <= most:
            return setting
    return None


def _count_typos(name: str, setting: str) -> int:
    """Return the number of missing, extra, wrong and swapped letters."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - rarely needed

    return OSA.distance(name, setting)
