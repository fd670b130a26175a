create function textrawl.reset_values(space integer, fact uuid, former jsonb) returns void
language sql volatile
begin atomic
    update textrawl.observation o
    set source = coalesce(former ->> 'source', o.source), confidence = coalesce((former ->> 'confidence')::real, o.confidence),
        valid_until = case when former ? 'valid_until' then (former ->> 'valid_until')::timestamptz else o.valid_until end,
        -- Keep an end that has passed in closed_at although it is undone: a revert must not ask the clock.
        closed_at = case when former ? 'valid_until'
                         then coalesce(textrawl.past_end((former ->> 'valid_until')::timestamptz),
                                       textrawl.past_end(o.valid_until), o.closed_at)
                         else o.closed_at end,
        said_at = coalesce((former ->> 'said_at')::timestamptz, o.said_at),
        confirmed_at = case when former ? 'confirmed_at' then (former ->> 'confirmed_at')::timestamptz else o.confirmed_at end,
        fts = case when former ? 'said_at' then textrawl.search_document(
            o.space_id, textrawl.space_language(o.space_id), textrawl.document_names(o.space_id, e.id), o.content,
            nullif((former ->> 'said_at')::timestamptz, o.created_at)) else o.fts end
    from textrawl.entity e
    where e.space_id = o.space_id and e.id = o.entity_id and o.space_id = space and o.id = fact;
end;

comment on function textrawl.reset_values is
    'Set source, confidence, valid_until, said_at and confirmed_at of a fact to the values that plan_values() returned.';
