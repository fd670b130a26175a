-- Each of these asks for a credential, and does only what the credential allows.
grant execute on function
    textrawl.search_memory, textrawl.describe_entity, textrawl.list_entities, textrawl.similar_names,
    textrawl.remember_fact, textrawl.build_knowledge, textrawl.relate_entities, textrawl.forget_entity,
    textrawl.memory_statistics, textrawl.recall_costs
    to textrawl_app;

-- A server's own work, which needs no credential.
grant execute on function
    textrawl.refresh_search_statistics, textrawl.record_recalls, textrawl.prune_recalls
    to textrawl_app;

grant execute on function
    textrawl.search_memory, textrawl.describe_entity, textrawl.list_entities, textrawl.similar_names,
    textrawl.memory_statistics, textrawl.recall_costs
    to textrawl_analyst;

-- Row-level security shows a login the rows of the spaces that were granted to it.
grant select on textrawl.recall, textrawl.recalled to textrawl_analyst;
