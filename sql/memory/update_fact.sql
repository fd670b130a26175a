create function textrawl.update_fact(
    space integer, fact uuid, source text, confidence real, valid_until timestamptz, said_at timestamptz
) returns jsonb
language sql volatile
begin atomic
    with input as (
        select jsonb_strip_nulls(jsonb_build_object(
            'source', source, 'confidence', confidence, 'valid_until', valid_until, 'said_at', said_at)) as value
    ), former as (
        select jsonb_object_agg(input.key, jsonb_build_object(
            'source', o.source, 'confidence', o.confidence, 'valid_until', o.valid_until, 'said_at', o.said_at) -> input.key) as value
        from textrawl.observation o, jsonb_each((select value from input)) input
        where o.space_id = space and o.id = fact
    ), changed as (
        update textrawl.observation o
        set source = coalesce(update_fact.source, o.source), confidence = coalesce(update_fact.confidence, o.confidence),
            valid_until = coalesce(update_fact.valid_until, o.valid_until),
            closed_at = coalesce(textrawl.past_end(update_fact.valid_until), o.closed_at),
            said_at = coalesce(update_fact.said_at, o.said_at),
            fts = case when update_fact.said_at is null then o.fts else (
                select textrawl.search_document(o.space_id, textrawl.space_language(o.space_id), textrawl.document_names(o.space_id, e.id), o.content, update_fact.said_at)
                from textrawl.entity e where e.space_id = o.space_id and e.id = o.entity_id) end
        from input, former
        where o.space_id = space and o.id = fact and former.value <> input.value
    )
    select jsonb_build_object('before', former.value, 'after', input.value) from input, former;
end;

comment on function textrawl.update_fact is
    'Set the given source, confidence, end and said_at of a fact that was stored again; null keeps the old value. '
    'Return {before, after} for the trail, with all given values. Unchanged values are included, because the caller '
    'confirmed them.';
