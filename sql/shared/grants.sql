-- A server compares these tables with its own files before it starts.
grant select on textrawl.migration, textrawl.code to textrawl_app, textrawl_analyst;

grant execute on function
    textrawl.name_key, textrawl.name_spellings, textrawl.fact_key, textrawl.relation_key, textrawl.relation_label, textrawl.is_valid, textrawl.was_valid, textrawl.known_end, textrawl.is_within,
    textrawl.is_fact_id, textrawl.id_span, textrawl.named_by_id,
    textrawl.fact_hash, textrawl.free_type, textrawl.has_type, textrawl.nearest_type, textrawl.type_words, textrawl.find_entities,
    textrawl.entity_description,
    textrawl.find_origin, textrawl.session_repositories, textrawl.is_of_repository, textrawl.local_facts, textrawl.local_entities,
    textrawl.statement_text, textrawl.split_names, textrawl.lower_letters, textrawl.plain_text
    to textrawl_analyst;

-- Conflicting facts are found as the caller.
grant execute on function textrawl.fold_case, textrawl.strip_accents to textrawl_app, textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.space, textrawl.entity, textrawl.observation, textrawl.fact, textrawl.stale_fact, textrawl.relation, textrawl.entity_alias, textrawl.dismissal
    to textrawl_analyst;
