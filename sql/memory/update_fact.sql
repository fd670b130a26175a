create function textrawl.update_fact(
    space integer, fact uuid, source text, confidence real, valid_until timestamptz
) returns jsonb
language sql volatile
set search_path from current
begin atomic
    with given as (
        select jsonb_strip_nulls(jsonb_build_object('source', source, 'confidence', confidence, 'valid_until', valid_until)) as value
    ), former as (
        select jsonb_object_agg(given.key, jsonb_build_object(
            'source', o.source, 'confidence', o.confidence, 'valid_until', o.valid_until) -> given.key) as value
        from textrawl.observation o, jsonb_each((select value from given)) given
        where o.space_id = space and o.id = fact
    ), changed as (
        update textrawl.observation o
        set source = coalesce(update_fact.source, o.source), confidence = coalesce(update_fact.confidence, o.confidence),
            valid_until = coalesce(update_fact.valid_until, o.valid_until)
        from given, former
        where o.space_id = space and o.id = fact and former.value <> given.value
    )
    select jsonb_build_object('before', former.value, 'after', given.value) from given, former;
end;

comment on function textrawl.update_fact is
    'Gives a fact that is told again the source, confidence and end that are given (null: none is) and returns these as {before, after}, for the trail: somebody stands for them also where they are what they were.';
