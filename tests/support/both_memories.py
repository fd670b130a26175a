"""The tests that `pytest -m citus` repeats on a cluster.

Together they call nearly each function that a server calls, so each route and each way of merging
is met. `pytest --on-citus` runs all tests of a memory there, which takes an hour.
"""

_TESTS = {
    "tests/attacks/test_reach.py": """
        test_the_author_of_a_reflection_is_who_wrote_it_and_any_can_be_deleted
    """,
    "tests/explorer/test_attacks.py": """
        test_every_answer_forbids_frames_caches_and_foreign_scripts
    """,
    "tests/explorer/test_changes.py": """
        test_a_wrong_fact_can_end_without_another_in_its_place
    """,
    "tests/explorer/test_decisions_page.py": """
        test_ten_pairs_are_merged_in_one_go_and_split_again_in_another
        test_what_was_decided_leaves_its_page_and_can_be_taken_back
    """,
    "tests/explorer/test_grants_page.py": """
        test_a_grant_says_what_will_change_is_made_and_taken_back
    """,
    "tests/explorer/test_names.py": """
        test_an_alias_is_removed_and_a_notice_takes_that_back
        test_the_name_the_type_and_the_description_are_edited_in_one_form
    """,
    "tests/explorer/test_share_page.py": """
        test_nobody_shares_without_the_rights_in_both_spaces
    """,
    "tests/server/test_subscriptions.py": """
        test_a_stream_has_only_what_the_server_sends
    """,
    "tests/server/upkeep/test_extraction.py": """
        test_a_fault_delays_the_entry_and_the_state_tells_it
        test_what_the_llm_invents_is_checked_like_the_arguments_of_a_caller
    """,
    "tests/server/upkeep/test_journal_upkeep.py": """
        test_a_server_consolidates_only_if_it_is_told_to
    """,
    "tests/server/upkeep/test_upkeep_faults.py": """
        test_rounds_go_on_after_one_that_failed
    """,
    "tests/toolsets/connector/test_connector.py": """
        test_an_id_out_of_reach_is_like_one_that_nothing_has
    """,
    "tests/toolsets/corpus/test_correcting.py": """
        test_a_chunk_out_of_reach_is_like_one_that_does_not_exist
        test_in_deterministic_mode_the_proposal_is_the_new_text
    """,
    "tests/toolsets/corpus/test_recalling.py": """
        test_a_change_of_the_tier_holds_for_the_next_call
        test_a_sensitive_graph_is_as_unknown_as_one_that_does_not_exist
    """,
    "tests/toolsets/decay/test_clusters.py": """
        test_a_text_that_holds_the_others_is_the_merged_text
        test_linked_memories_stay_and_point_at_each_other
    """,
    "tests/toolsets/decay/test_lifecycle.py": """
        test_a_space_can_turn_reinforcement_off
        test_gc_ends_memories_and_undo_revives_them
        test_gc_first_shows_what_it_would_end
        test_links_are_shown_with_their_memories
    """,
    "tests/toolsets/decay/test_vault.py": """
        test_memories_and_notes_are_found_together_and_a_promoted_text_once
    """,
    "tests/toolsets/graph/test_long_observations.py": """
        test_a_long_observation_is_read_whole_and_found_by_its_sentences
        test_a_split_moves_a_long_observation_whole
        test_parts_of_one_text_are_no_duplicates_of_each_other
    """,
    "tests/toolsets/graph/test_sizes.py": """
        test_empty_lists_are_taken
    """,
    "tests/toolsets/identity/test_files.py": """
        test_a_file_that_does_not_exist_cannot_be_labelled
        test_only_custom_files_can_be_deleted_and_a_snapshot_brings_them_back
    """,
    "tests/toolsets/identity/test_loading.py": """
        test_each_space_has_an_identity_of_its_own
    """,
    "tests/toolsets/journal/test_entries.py": """
        test_an_update_replaces_the_text_and_keeps_what_is_known_of_it
    """,
    "tests/toolsets/journal/test_history.py": """
        test_undo_of_the_creation_hides_the_entry_and_the_revert_brings_it_back
    """,
    "tests/toolsets/journal/test_searching.py": """
        test_a_deleted_entry_is_no_longer_listed
        test_without_a_provider_a_search_uses_words_and_says_so
    """,
    "tests/toolsets/memory/test_extraction.py": """
        test_a_preview_shows_the_findings_and_stores_nothing
    """,
    "tests/toolsets/memory/test_prompts.py": """
        test_prompts_and_completions_keep_to_what_the_caller_can_read
        test_the_setting_is_the_budget_of_a_digest_without_one_of_its_own
    """,
    "tests/toolsets/mind/test_edges.py": """
        test_a_deleted_edge_is_history
        test_a_walk_leaves_out_deleted_nodes
        test_ids_of_another_space_are_not_found_in_the_words_of_ids_that_nobody_has
        test_insights_name_bridges_and_clusters
        test_relations_of_other_tools_are_edges
        test_stats_count_live_nodes_and_valid_edges
        test_the_same_edge_again_keeps_the_larger_weight_and_takes_new_evidence
    """,
    "tests/toolsets/mind/test_nodes.py": """
        test_a_label_can_change_and_finds_its_node
        test_nodes_are_listed_by_type_in_pages_with_the_last_updated_first
    """,
    "tests/toolsets/review/test_review.py": """
        test_a_batch_and_a_relation_answer_with_their_proposals
        test_lines_mark_a_proposal
    """,
    "tests/toolsets/stats/test_stats.py": """
        test_in_a_graph_only_its_documents_are_counted
    """,
    "tests/toolsets/sync/test_sync.py": """
        test_the_programs_are_known_after_a_restart
    """,
}
ON_CLUSTER = frozenset(
    f"{file}::{name}" for file, names in _TESTS.items() for name in names.split()
)
