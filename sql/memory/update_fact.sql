create function textrawl.update_fact(
    space integer, fact uuid, source text, confidence real, valid_until timestamptz
) returns jsonb
language sql volatile
set search_path from current
begin atomic
    with input as (
        select jsonb_strip_nulls(jsonb_build_object('source', source, 'confidence', confidence, 'valid_until', valid_until)) as value
    ), former as (
        select jsonb_object_agg(input.key, jsonb_build_object(
            'source', o.source, 'confidence', o.confidence, 'valid_until', o.valid_until) -> input.key) as value
        from textrawl.observation o, jsonb_each((select value from input)) input
        where o.space_id = space and o.id = fact
    ), changed as (
        update textrawl.observation o
        set source = coalesce(update_fact.source, o.source), confidence = coalesce(update_fact.confidence, o.confidence),
            valid_until = coalesce(update_fact.valid_until, o.valid_until)
        from input, former
        where o.space_id = space and o.id = fact and former.value <> input.value
    )
    select jsonb_build_object('before', former.value, 'after', input.value) from input, former;
end;

comment on function textrawl.update_fact is
    'Set the given source, confidence and end of a fact that was stored again; null keeps the old value. Return {before, '
    'after} of all given values for the trail, also of unchanged ones: somebody confirmed those.';
