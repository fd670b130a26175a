-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.plan_undo, textrawl.undo_author, textrawl.undo_event, textrawl.revert_undo, textrawl.purge_undone, textrawl.list_events,
    textrawl.read_events, textrawl.trail_end, textrawl.changed_watches
    to textrawl_app;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.undo, textrawl.undone, textrawl.event to textrawl_analyst;
