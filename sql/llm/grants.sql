-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function textrawl.record_llm_use, textrawl.llm_usage, textrawl.extraction_state, textrawl.queue_summaries,
    textrawl.claim_summary, textrawl.store_summary, textrawl.delay_summary
    to textrawl_app;

-- Servers call these functions for upkeep, without a credential.
grant execute on function
    textrawl.prune_llm_use, textrawl.claim_extraction, textrawl.store_extraction, textrawl.delay_extraction,
    textrawl.record_extraction_use, textrawl.propose_extraction
    to textrawl_app;

grant execute on function textrawl.llm_usage, textrawl.extraction_state to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.llm_use, textrawl.extraction_pending, textrawl.extraction_total, textrawl.consolidation,
    textrawl.summary, textrawl.summary_clause
    to textrawl_analyst;
