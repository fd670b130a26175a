-- Who may call what. Functions that are not named here are called by these alone.

-- Every one of these asks for a credential, and does nothing that it does not cover.
grant execute on function
    textrawl.authenticate, textrawl.vouch,
    textrawl.search_memory, textrawl.describe_entity, textrawl.list_entities, textrawl.similar_names,
    textrawl.remember_fact, textrawl.build_knowledge, textrawl.relate_entities, textrawl.forget_entity,
    textrawl.memory_statistics, textrawl.memory_report, textrawl.recall_costs,
    textrawl.plan_undo, textrawl.undo_author, textrawl.revert_undo, textrawl.purge_undone,
    textrawl.list_events, textrawl.read_events, textrawl.trail_end,
    textrawl.grant_access, textrawl.revoke_access, textrawl.list_grants, textrawl.owns_memory,
    textrawl.create_nodes, textrawl.create_edges, textrawl.add_observations,
    textrawl.delete_nodes, textrawl.delete_observations, textrawl.delete_edges, textrawl.delete_reflections,
    textrawl.read_graph, textrawl.search_nodes, textrawl.open_nodes,
    textrawl.search_semantic, textrawl.end_edge, textrawl.add_reflection, textrawl.search_reflections,
    textrawl.node_sizes, textrawl.split_node, textrawl.similar_observations, textrawl.compared_observations, textrawl.stale_nodes, textrawl.record_use,
    textrawl.stop_words
    to textrawl_app;

-- A server's own work, on behalf of all: vectors, statistics, what answers cost. Of content it sees
-- facts that still wait for a vector, since it is what asks for one.
grant execute on function
    textrawl.embedding_models, textrawl.register_embedding_model, textrawl.queue_embeddings,
    textrawl.claim_pending_embeddings, textrawl.fill_pending_embeddings,
    textrawl.release_pending_embeddings, textrawl.pending_embeddings,
    textrawl.refresh_search_statistics, textrawl.record_recalls, textrawl.prune_recalls, textrawl.default_space
    to textrawl_app;
grant select on textrawl.migration, textrawl.code to textrawl_app;

-- An analyst sees rows of the spaces granted to the login, by row-level security.
grant execute on function
    textrawl.readable_spaces, textrawl.session_spaces, textrawl.default_space, textrawl.owns_memory,
    textrawl.search_memory, textrawl.describe_entity, textrawl.list_entities, textrawl.similar_names,
    textrawl.memory_statistics, textrawl.recall_costs,
    textrawl.name_key, textrawl.fact_key, textrawl.relation_key, textrawl.is_valid,
    textrawl.memory_report, textrawl.similar_to, textrawl.entity_context, textrawl.path_between, textrawl.neighbours, textrawl.live_edges,
    textrawl.as_of, textrawl.memory_diff, textrawl.near_facts, textrawl.active_model, textrawl.numbers_in,
    textrawl.states_the_same, textrawl.fold_case,
    textrawl.read_graph, textrawl.search_nodes, textrawl.open_nodes, textrawl.node_number,
    textrawl.search_semantic, textrawl.search_reflections,
    textrawl.node_sizes, textrawl.similar_observations, textrawl.compared_observations, textrawl.stale_nodes
    to textrawl_analyst;
grant select on
    textrawl.memory_entities, textrawl.memory_observations, textrawl.memory_relations, textrawl.memory_timeline,
    textrawl.memory_stale, textrawl.memory_duplicates, textrawl.memory_conflicts, textrawl.memory_growth,
    textrawl.memory_recalls, textrawl.memory_unanswered, textrawl.memory_health, textrawl.memory_graph_degree,
    textrawl.memory_recalled_facts, textrawl.memory_indexes, textrawl.memory_grants, textrawl.memory_undone,
    textrawl.space_grant, textrawl.undo, textrawl.undone,
    textrawl.space, textrawl.entity, textrawl.observation, textrawl.relation, textrawl.event, textrawl.recall, textrawl.recalled,
    textrawl.embedding_model, textrawl.embedding_pending, textrawl.migration, textrawl.code
    to textrawl_analyst;
grant select (id, name, created_at) on textrawl.actor to textrawl_analyst;
