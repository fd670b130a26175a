-- Each view reads with the rights of its reader (security_invoker), so row-level security applies.
grant select on
    textrawl.memory_entities, textrawl.memory_observations, textrawl.memory_relations, textrawl.memory_timeline,
    textrawl.memory_stale, textrawl.memory_decay, textrawl.memory_journal, textrawl.memory_items, textrawl.memory_corrections, textrawl.memory_sources, textrawl.memory_duplicates, textrawl.memory_conflicts, textrawl.memory_growth,
    textrawl.memory_recalls, textrawl.memory_unanswered, textrawl.memory_health, textrawl.memory_graph_degree,
    textrawl.memory_recalled_facts, textrawl.memory_indexes, textrawl.memory_grants, textrawl.memory_undone, textrawl.memory_revisions,
    textrawl.memory_proposals, textrawl.memory_claims,
    textrawl.memory_origins,
    textrawl.memory_same_entities
    to textrawl_analyst;
