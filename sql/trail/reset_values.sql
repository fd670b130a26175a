create function textrawl.reset_values(space integer, fact uuid, former jsonb) returns void
language sql volatile
set search_path from current
begin atomic
    update textrawl.observation o
    set source = coalesce(former ->> 'source', o.source), confidence = coalesce((former ->> 'confidence')::real, o.confidence),
        valid_until = case when former ? 'valid_until' then (former ->> 'valid_until')::timestamptz else o.valid_until end
    where o.space_id = space and o.id = fact;
end;

comment on function textrawl.reset_values is
    'Set source, confidence and valid_until of a fact to the values found by plan_values().';
