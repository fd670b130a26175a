"""What CONTRIBUTING.md calls house rules, as far as a program can tell."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

from tests.support.syntax import read_nodes
from textrawl import Settings
from textrawl.doctor.configuration import describe_settings

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "textrawl"
SCHEMA = ROOT / "sql/schema.sql"  # generated: tests/sql/test_schema.py
SQL_FILES = sorted(set((ROOT / "sql").rglob("*.sql")) - {SCHEMA})
MODULES = sorted(
    path
    for top in ("textrawl", "packages", "tests", "benchmarks")
    for path in (ROOT / top).rglob("*.py")
)
MOST_MODULE_LINES, MOST_FUNCTION_LINES = 600, 40

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def walk_package() -> tuple[tuple[Path, str, ast.AST], ...]:
    """Every node of the package: its file, a place to click on, itself."""
    return tuple(
        (name, f"{name}:{getattr(node, 'lineno', 0)}", node)
        for path in MODULES
        if path.is_relative_to(PACKAGE)
        for name in [path.relative_to(ROOT)]
        for node in read_nodes(path)
    )


def count_code(path: Path) -> int:
    """Lines of a module that are not blank."""
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def count_lines(path: Path, node: Function) -> int:
    """Lines of a function without its docstring, and of a tool without the wire's signature."""
    start = node.body[0].lineno if {"tools", "toolsets"} & set(path.parts) else node.lineno
    lines = (node.end_lineno or start) - start + 1
    first = node.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def find_tracked() -> list[Path]:
    """Files that a commit would have."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]


def test_no_module_is_longer_than_600_lines() -> None:
    sizes = {str(path.relative_to(ROOT)): count_code(path) for path in MODULES}
    assert {name: size for name, size in sizes.items() if size > MOST_MODULE_LINES} == {}


def test_no_function_is_longer_than_40_lines() -> None:
    functions = [
        (f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", count_lines(path, node))
        for path in MODULES
        for node in read_nodes(path)
        if isinstance(node, Function)
    ]
    assert [entry for entry in functions if entry[1] > MOST_FUNCTION_LINES] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "common", "helpers", "helper", "manager", "base", "misc"}
    assert [path for path in MODULES if empty & set(path.with_suffix("").parts)] == []


def test_sql_is_written_in_sql_files() -> None:
    """Except in the packages that hold connections, and for two uses of SQLite."""
    apart = {"postgres", "embedded", "cluster", "opencode.py", "word_index.py"}
    statement = re.compile(
        r"\s*(select|insert into|update|delete from|with|create|alter|drop)\s.{12}", re.DOTALL
    )
    found = [
        f"{place} {node.value[:50]!r}"
        for path, place, node in walk_package()
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and statement.match(node.value)
        and not apart & set(path.parts)
    ]
    assert found == []


def test_only_the_settings_read_the_environment() -> None:
    """`environment` finds their values."""
    found = [
        place
        for path, place, node in walk_package()
        if path.name not in {"settings.py", "environment.py"}
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"}
    ]
    assert found == []


def test_tools_neither_catch_errors_nor_know_postgres() -> None:
    """Operations catch errors. They are in textrawl/memory."""
    tools = [
        path
        for path in (PACKAGE / "tools").rglob("*.py")
        if re.search(r"^@\w+\.tool\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    found = [
        f"{path.name}:{getattr(node, 'lineno', 0)}"
        for path in tools
        for node in read_nodes(path)
        if isinstance(node, ast.Try)
        or (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith(("psycopg", "textrawl.postgres"))
        )
    ]
    assert tools
    assert found == []


def test_every_setting_has_its_sentence() -> None:
    described = {name: field.description or "" for name, field in Settings.model_fields.items()}
    assert [name for name, sentence in described.items() if not sentence.endswith(".")] == []


def test_the_example_environment_is_written_from_the_settings() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert example == describe_settings()


def test_every_sql_file_makes_what_its_name_says_and_comments_on_it() -> None:
    faults = [
        f"{path.relative_to(ROOT)}: {fault}"
        for path in SQL_FILES
        if (fault := find_sql_fault(path, path.read_text(encoding="utf-8")))
    ]
    assert SQL_FILES
    assert faults == []


def find_sql_fault(path: Path, text: str) -> str | None:
    """Return the difference between a file of SQL and its name, or None."""
    kinds = {
        "catalogue": {"with", "select", "from", "order"},
        "grants": {"grant"},
        "restrictions": {"do", "declare", "begin", "end"},
    }
    if path.stem in kinds:
        found = set(re.findall(r"^(\w+)", text, re.MULTILINE))
        return None if found == kinds[path.stem] else f"has {sorted(found)}"
    if path.parent.name == "migrations":
        return find_migration_fault(text)
    is_view = path.parent.name == "views" or path.stem in {"fact", "stale_fact"}
    kind = "view" if is_view else "function"
    # A cell replaces functions, and a later migration of a cluster replaces those of its nodes.
    replaced = path.parent.name in {"cells", "cluster"}
    create = "create or replace" if replaced else "create"
    schema = "textrawl_content" if path.parent.name == "cluster" else "textrawl"
    for beginning, end in ((create, ""), ("comment on", " is")):
        made = re.findall(rf"^{beginning} {kind} {schema}\.(\w+){end}", text, re.MULTILINE)
        if made != [path.stem]:
            return f"{beginning} {kind} {made}"
    return None


def find_migration_fault(text: str) -> str | None:
    """Return what a migration lacks, or None."""
    made = re.findall(r"^create (table|type) (\w+)", text, re.MULTILINE)
    changed = re.findall(r"^(?:alter table|create index|insert into|update)", text, re.MULTILINE)
    described = re.findall(r"^comment on (table|type) (\w+) is '", text, re.MULTILINE)
    if not made and not changed:
        return "changes nothing"
    bare = sorted(set(made) - set(described))
    return f"has no comment on {bare}" if bare else None


def test_no_file_names_a_registry_or_a_path_of_the_machine_it_was_written_on() -> None:
    hosts = ["py" + "pi.org", "python" + "hosted", "npm" + "js.", "deb." + "debian"]
    here = [str(ROOT), str(ROOT.parent / "shared"), str(Path.home()) + "/"]
    words = hosts + [path for path in here if len(path) > len("/root/")]
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in find_tracked()
        for word in words
        if word.encode() in path.read_bytes()
    ]
    assert found == []


def test_nothing_of_the_benchmarks_data_is_copied_into_the_project() -> None:
    """The data of LoCoMo may be read where it lies, not passed on."""
    assert [
        path for path in find_tracked() if "locomo" in path.name.lower() and path.suffix == ".json"
    ] == []
