create function textrawl.record_merge(kept uuid, merged uuid, moment timestamptz, origin textrawl.origin) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    made uuid := gen_random_uuid();
begin
    perform join_entities(kept, merged, origin, made, moment);
    perform record_event('merged', m.kept_id, null, null, origin, jsonb_build_object(
        'merge', m.id, 'merged', m.merged_id, 'at', m.at, 'facts', cardinality(m.facts),
        'relations', (select count(distinct r) from unnest(m.sources || m.targets) r)))
    from merge m where m.space_id = origin.space_id and m.id = made;
    return made;
end
$$;

comment on function textrawl.record_merge is
    'Merge an entity into another one with join_entities(), add the merge to the trail, and return its id. Lock both '
    'entities first.';
