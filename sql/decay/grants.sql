-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.save_memory, textrawl.search_memories, textrawl.reinforce_memories, textrawl.fading_memories,
    textrawl.forget_faded, textrawl.link_memories, textrawl.list_links, textrawl.list_memories,
    textrawl.match_memories, textrawl.promotion_candidates, textrawl.mark_promoted,
    textrawl.comparable_memories, textrawl.memory_similarities, textrawl.cluster_members,
    textrawl.consolidate_memories, textrawl.link_cluster, textrawl.change_policy
    to textrawl_app;

grant execute on function
    textrawl.search_memories, textrawl.fading_memories, textrawl.list_links, textrawl.list_memories,
    textrawl.promotion_candidates, textrawl.change_policy
    to textrawl_analyst;

-- These functions show no content of a memory.
grant execute on function
    textrawl.default_policy, textrawl.space_policy, textrawl.decay_factor, textrawl.decay_score, textrawl.decay_reaches,
    textrawl.review_priority, textrawl.jaccard, textrawl.is_cross_domain, textrawl.memory_text, textrawl.memory_states,
    textrawl.text_words
    to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.decay_policy, textrawl.retention, textrawl.memory_link to textrawl_analyst;
