-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.search_memory, textrawl.describe_entity, textrawl.list_entities, textrawl.similar_names,
    textrawl.digest_memory, textrawl.list_repository_facts, textrawl.facts_from_authors, textrawl.complete_name, textrawl.explain_search, textrawl.known_types,
    textrawl.named_entities, textrawl.missing_words,
    textrawl.find_ids, textrawl.known_names, textrawl.remember_fact, textrawl.build_knowledge,
    textrawl.relate_entities, textrawl.correct_relation, textrawl.end_relation, textrawl.forget_entity, textrawl.forget_facts, textrawl.date_facts,
    textrawl.memory_statistics, textrawl.recall_costs, textrawl.pin_fact, textrawl.list_pins
    to textrawl_app;

-- Servers call these functions for upkeep, without a credential.
grant execute on function
    textrawl.refresh_planner_statistics, textrawl.refresh_search_statistics, textrawl.rebuild_documents, textrawl.record_recalls, textrawl.prune_recalls
    to textrawl_app;

grant execute on function
    textrawl.search_memory, textrawl.describe_entity, textrawl.list_entities, textrawl.similar_names,
    textrawl.digest_memory, textrawl.list_repository_facts, textrawl.facts_from_authors, textrawl.complete_name, textrawl.explain_search, textrawl.known_types,
    textrawl.named_entities, textrawl.missing_words,
    textrawl.find_ids, textrawl.known_names, textrawl.memory_statistics, textrawl.recall_costs, textrawl.score_bar, textrawl.ranking_weights,
    textrawl.names_entity, textrawl.list_pins
    to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.recall, textrawl.recalled, textrawl.ranking_weight to textrawl_analyst;
