"""The tests that .ci/run repeats on a cluster.

Together they meet each route of a call and each merge of answers. `pytest --citus` runs all tests
of a memory there, which takes an hour.
"""

_ON_CLUSTER = """
    tests/toolsets/corpus/test_facts_in_graphs.py::test_a_tool_for_facts_refuses_a_graph_and_changes_nothing
    tests/toolsets/memory/test_documents.py::test_lines_name_the_place_and_with_ids_the_chunk
    tests/toolsets/memory/test_documents.py::test_sensitive_and_unlisted_graphs_change_no_answer
    tests/toolsets/mind/test_access.py::test_ids_of_another_space_are_not_found_in_the_words_of_ids_that_nobody_has
    tests/toolsets/mind/test_edges.py::test_the_same_edge_again_keeps_the_larger_weight_and_takes_new_evidence
    tests/toolsets/review/test_review.py::test_a_proposal_counts_for_others_once_a_reviewer_accepts_it
    tests/toolsets/stats/test_stats.py::test_in_a_graph_only_its_documents_are_counted
    tests/toolsets/stats/test_stats.py::test_only_graphs_that_the_caller_can_read_are_counted
"""
ON_CLUSTER = frozenset(_ON_CLUSTER.split())
