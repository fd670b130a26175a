"""A new column of a fact: how important its author says it is.

It goes through remember_fact() and proposals, copies, exports, the history, undo and a view. The
tests are general: `tests/sql/test_columns.py` holds each column of the table to them.
"""

from tests.golden.patch import Patch

_MIGRATION = """\
-- How important a fact is, as its author says.

alter table observation add column importance real check (importance between 0 and 1);
comment on column observation.importance is
    'How important the fact is, as its author says, from 0 to 1. Null: not said.';
alter table proposal add column importance real check (importance between 0 and 1);
comment on column proposal.importance is
    'How important the fact is, as its author says, from 0 to 1. Null: not said.';
alter type new_fact add attribute importance real;
comment on column new_fact.importance is
    'How important the fact is, as its author says, from 0 to 1. Null: not said.';
"""
_PARAMETER = "    importance double precision default null,\n"
_SHOWN = (
    "{% if fact.importance is not none %}, importance {{ fact.importance|hundredths }}{% endif %}"
)
_COMMENT = (
    "comment on column textrawl.memory_observations.importance is"
    " 'How important the fact is, as its author says, from 0 to 1.';\n"
)

PATCH = Patch(
    files={"sql/migrations/0099_importance.sql": _MIGRATION},
    edits=(
        ("sql/memory/remember_fact.sql", "    out entity_id uuid, out entity_name", _PARAMETER),
        ("sql/memory/remember_fact.sql", "'replaces', replaces);", "'importance', importance, "),
        (
            "sql/memory/store_facts.sql",
            "evidence_start, claim, period, repository, anchors, ord",
            "importance, ",
        ),
        ("sql/memory/store_facts.sql", "f.evidence_start, f.claim", "f.importance, "),
        ("sql/trail/set_fact.sql", "author_id = n.author_id", "importance = n.importance, "),
        ("sql/archive/export_facts.sql", "    evidence text,", "    importance real,\n"),
        ("sql/archive/export_facts.sql", "o.evidence,", "o.importance, "),
        (
            "textrawl/archive/lines.py",
            "    vector: str | None = None\n",
            "    importance: Share | None = None\n",
        ),
        ("sql/explorer/entity_history.sql", "    evidence text,", "    importance real,\n"),
        ("sql/explorer/entity_history.sql", "o.evidence,", "o.importance, "),
        (
            "textrawl/explorer/pages/history.html",
            "{% if fact.confidence < 1 %}, confidence",
            _SHOWN,
        ),
        ("sql/views/memory_observations.sql", "       o.said_at,\n", "       o.importance,\n"),
        (
            "sql/views/memory_observations.sql",
            "comment on column textrawl.memory_observations.said_at",
            _COMMENT,
        ),
    ),
    updates=("tests/sql/test_schema.py",),
    tests=(
        "tests/sql/test_columns.py",
        "tests/sql/test_catalogue.py::test_every_column_and_type_says_what_it_holds",
        "tests/sql/test_schema.py",
        "tests/explorer/test_entity_history.py::test_beyond_the_last_fact_the_last_page_is_shown",
    ),
)
