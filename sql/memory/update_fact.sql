create function textrawl.update_fact(
    space integer, fact uuid, source text, confidence real, valid_until timestamptz, said_at timestamptz, moment timestamptz
) returns jsonb
language sql volatile
begin atomic
    with input as (
        -- Confirm a fact at most once a day, so that repetitions write nothing.
        select jsonb_strip_nulls(jsonb_build_object(
            'source', update_fact.source, 'confidence', update_fact.confidence,
            'valid_until', case when update_fact.valid_until is not null then greatest(update_fact.valid_until, o.valid_from) end,
            'said_at', update_fact.said_at,
            'confirmed_at', case when coalesce(o.confirmed_at, o.created_at) < moment - interval '1 day' then moment end)) as value
        from textrawl.observation o where o.space_id = space and o.id = fact
    ), former as (
        select jsonb_object_agg(input.key, jsonb_build_object(
            'source', o.source, 'confidence', o.confidence, 'valid_until', o.valid_until, 'said_at', o.said_at,
            'confirmed_at', o.confirmed_at) -> input.key) as value
        from textrawl.observation o, jsonb_each((select value from input)) input
        where o.space_id = space and o.id = fact
    ), changed as (
        update textrawl.observation o
        set source = coalesce(update_fact.source, o.source), confidence = coalesce(update_fact.confidence, o.confidence),
            valid_until = coalesce((input.value ->> 'valid_until')::timestamptz, o.valid_until),
            closed_at = coalesce(textrawl.past_end(update_fact.valid_until), o.closed_at),
            said_at = coalesce(update_fact.said_at, o.said_at),
            confirmed_at = coalesce((input.value ->> 'confirmed_at')::timestamptz, o.confirmed_at),
            fts = case when update_fact.said_at is null then o.fts else (
                select textrawl.search_document(o.space_id, textrawl.space_language(o.space_id), textrawl.document_names(o.space_id, e.id), o.content, update_fact.said_at)
                from textrawl.entity e where e.space_id = o.space_id and e.id = o.entity_id) end
        from input, former
        where o.space_id = space and o.id = fact and former.value <> input.value
    )
    select coalesce(jsonb_build_object('before', former.value, 'after', input.value), '{}') from input, former
    where former.value is not null;
end;

comment on function textrawl.update_fact is
    'Set the given source, confidence, end and said_at of a fact that was stored again, and confirm it; null keeps the '
    'old value. Return {before, after} for the trail, with all given values. Unchanged values are included, because the '
    'caller confirmed them. Null: the caller gave no value, and the fact was confirmed within the last day.';
