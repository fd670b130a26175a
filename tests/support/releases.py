"""The tests that only a release needs: `pytest -m release` runs them.

A test with a client runs in both eras of the protocol, a test of the SQL on two versions of
Postgres, and a test with an LLM in the protocols of two providers. Each day both eras run where
they differ: in the transports, in what a server declares and asks, and in the shapes of answers.
PostgreSQL 16 runs the catalogue and one file for each folder of `sql`. `tests/llm` has both
protocols with all their faults, and each tool that uses an LLM has one test with both.
"""

from typing import Any

import pytest

BOTH_ERAS = (
    "tests/cli/test_serve.py",
    "tests/fuzzing/",
    "tests/server/test_server.py",
    "tests/server/test_subscriptions.py",
    "tests/toolsets/memory/test_contract.py",
    "tests/toolsets/memory/test_definitions.py",
    "tests/toolsets/memory/test_forget.py::test_a_no_",
    "tests/toolsets/memory/test_forget.py::test_a_user_",
    "tests/toolsets/memory/test_forget.py::test_after_a_no_",
    "tests/toolsets/memory/test_forget.py::test_another_session_",
    "tests/toolsets/memory/test_prompts.py::test_prompts_declare",
    "tests/toolsets/memory/test_prompts.py::test_the_list_",
    "tests/toolsets/test_order.py",
    "tests/toolsets/test_toolsets.py",
    "tests/transports/",
)
"""Where the eras differ: beginnings of the ids of tests."""

OLDEST_POSTGRES = (
    "access",
    "analysis",
    "catalogue",
    "corpus",
    "distribution",
    "facts",
    "graph",
    "identity",
    "merges",
    "models",
    "review",
    "schema",
    "search",
    "sharing",
    "trail",
    "views",
    "watches",
)
"""Files of tests/sql that run on PostgreSQL 16 too."""


BOTH_PROTOCOLS = (
    "tests/server/upkeep/test_extraction.py::test_an_entry_becomes_nodes_and_edges_in_the_background",
    "tests/toolsets/corpus/test_correcting.py::test_a_proposal_shows_the_diff_and_changes_nothing",
    "tests/toolsets/memory/test_extraction.py::test_a_text_becomes_facts_and_relations",
)
"""What uses an LLM, with the protocol of each provider: beginnings of the ids of tests."""

LONGEST = (
    "tests/benchmarks/test_benchmarks.py::test_a_benchmark_prints_its_table[",
    "tests/benchmarks/test_benchmarks.py::test_recall_of_documents",
    "tests/benchmarks/test_benchmarks.py::test_the_least_score_of_hooks",
    "tests/benchmarks/test_chaos.py::test_nothing_acknowledged",
    "tests/cli/test_handshakes.py::test_a_client_that_waits_a_second_connects_ten_times_of_ten",
    "tests/packaging/test_artefacts.py",
    "tests/packaging/test_bundle.py::test_a_client_starts",
    "tests/packaging/test_newcomer.py::test_the_readmes_test_command",
    "tests/replicas/test_own_writes.py::test_none_of_ten_thousand_own_reads_is_stale",
)
"""Beginnings of the ids of tests that take minutes, and of the tables of benchmarks."""

SLOW = (
    "tests/attacks/test_long_texts.py::test_long_texts_of_repeated_marks",
    "tests/cli/test_doctor.py::test_an_embedded_memory_that_the_next_start_refuses",
    "tests/cli/test_interruption.py::test_every_kind_of_command_ends_so",
    "tests/hooks/test_page.py",
    "tests/hooks/test_silence.py::test_a_server_that_cannot_be_reached",
    "tests/replicas/test_failover.py",
    "tests/replicas/test_faults.py::test_a_standby_that_comes_back",
    "tests/replicas/test_hanging.py",
    "tests/replicas/test_reads.py",
    "tests/replicas/test_reports.py",
    "tests/host/test_silent_listener.py",
    "tests/sql/test_plans.py",
    "tests/sql/test_storm.py",
    "tests/toolsets/corpus/test_remembering.py::test_a_text_is_stored_only_under_a_name",
    "tests/toolsets/decay/test_intents.py::test_a_long_hostile_message",
    "tests/toolsets/graph/test_sizes.py::test_a_page_has_a_million_characters",
    "tests/toolsets/graph/test_sizes.py::test_a_write_answers_names_and_counts",
    "tests/toolsets/graph/test_topics.py",
    "tests/toolsets/identity/test_files.py::test_a_file_cannot_grow",
)
"""Beginnings of the ids of tests that take seconds: many processes, a standby, 100,000 facts."""

FIRST = (
    "tests/cli/test_handshakes.py::test_a_client_that_waits_a_second",
    "tests/cli/test_ingest_kills.py",
    "tests/packaging/test_newcomer.py",
    "tests/quality/test_linters.py::test_pyright",
    "tests/replicas/test_failover.py::test_writers_continue",
    "tests/host/test_kills.py::test_kills",
)
"""Beginnings of the ids of long tests. They start first, so that no process waits for one later."""


def is_for_releases(item: pytest.Item) -> bool:
    """Return whether a test repeats another one where no difference is to be expected."""
    if item.nodeid.startswith(LONGEST):
        return True
    callspec: Any = getattr(item, "callspec", None)
    values: dict[str, Any] = callspec.params if callspec else {}
    if values.get("sql") == "postgres_16":
        return item.path.stem.removeprefix("test_") not in OLDEST_POSTGRES
    if "ollama" in (values.get("llm"), values.get("given")):
        return not item.nodeid.startswith(BOTH_PROTOCOLS)
    return values.get("era") == "legacy" and not item.nodeid.startswith(BOTH_ERAS)
