-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function textrawl.due_periods, textrawl.claim_period, textrawl.renew_claim, textrawl.store_period to textrawl_app;

grant execute on function
    textrawl.write_entry, textrawl.update_entry, textrawl.read_entry, textrawl.delete_entry, textrawl.list_entries,
    textrawl.search_journal
    to textrawl_app;

grant execute on function
    textrawl.write_entry, textrawl.update_entry, textrawl.read_entry, textrawl.delete_entry, textrawl.list_entries,
    textrawl.search_journal
    to textrawl_analyst;

-- These functions show no rows, or only rows that row-level security shows.
grant execute on function
    textrawl.journal_period, textrawl.journal_key, textrawl.entry_items, textrawl.merge_entries, textrawl.journal_entries,
    textrawl.due_periods, textrawl.period_state, textrawl.period_name, textrawl.source_granularity,
    textrawl.graph_signal
    to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.instance, textrawl.document, textrawl.document_version, textrawl.journal_entry to textrawl_analyst;
