"""The SQL functions that are called in a special way. All others are ordinary.

`grants.sql` says who may call a function, the catalogue of Postgres whether it only reads, and
`cluster.planning` and `cluster.merging` which cells a call reaches and how the answers are joined.
"""


def _list(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Writes that answer the same when they are repeated. The answer can say that the fact is known.
REPEATABLE = _list(
    """
    authenticate build_knowledge put_item put_items relate_entities remember_fact vouch"""
)
# Writes that store another row when a client repeats them, or take another one.
STORED_AGAIN = _list("add_reflection append_log create_token pop_log")
# These functions take milliseconds, and other calls need their answers. So they can use the reserve
# of the primary while long calls use all other connections.
SHORT = _list("authenticate default_space embedding_models vouch")
# These functions read or move a whole space or entity, which takes seconds if it is large. Three
# actors with two such calls each would use all connections, and all other actors would wait.
HEAVY = _list(
    "compared_observations node_sizes read_rows similar_observations split_node stale_nodes"
)
# These answers must not go back: the active model, and the cursor of changes. `default_space` is
# the question whether the primary answers.
PRIMARY_ONLY = _list("changed_watches default_space embedding_models new_facts")
# After these calls the workers have to copy the change, so that the next call finds it there.
SPREAD = _list(
    """
    archive_space bind_login calibrate_embedding_model change_language change_review
    change_tier create_analyst create_space create_token drop_analyst grant_access
    rename_space revoke_access revoke_token rollback_embedding_model rotate_token
    switch_embedding_model vouch"""
)
# If a worker is away, these calls of an administrator fail. Other calls of every cell are upkeep.
COMPLETE = _list("embedding_progress list_spaces write_state")
IN_ALL_CELLS = _list("drop_embedding_model start_embedding_model")
# Ordinary are `write` of a function that writes, and `read` of others.
SCOPES: dict[str, str] = {
    "admin": """
        add_webhook claim_webhooks erase_person erasure_plan fail_webhook list_erasure
        list_events list_imports list_webhooks next_webhook_events plan_undo purge_undone
        read_events read_webhook remove_webhook resume_webhook revert_undo trail_end
        undo_author verify_erasure""",
    "forget": """
        clear_log delete_edge delete_edges delete_entry delete_identity delete_items delete_node
        delete_nodes delete_observations delete_reflections forget_faded forget_source pop_log
        prune_documents""",
    "read": "renew_item set_own_entity",
    "review": "amend_proposal count_waiting decide_proposals plan_decision",
    # They answer callers without the scope `read` too, in every space of the caller.
    "": "entity_proposals list_proposals search_proposals",
}
SCOPE_OF = {name: scope for scope, names in SCOPES.items() for name in names.split()}
