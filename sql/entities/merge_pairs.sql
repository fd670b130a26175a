create function textrawl.merge_pairs(
    pairs jsonb,  -- [[id of the entity to keep, id of the entity that is merged into it]]
    dry_run boolean default false,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    kept_id uuid, kept_name text, kept_type text, merged_id uuid, merged_name text, merged_type text,
    facts bigint, relations bigint, duplicate_facts bigint, duplicate_relations bigint
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, case when dry_run then 'read' else 'write' end, client, tool, request);
    ids    uuid[] := array(select one.id::uuid from jsonb_array_elements(pairs) p (pair), jsonb_array_elements_text(p.pair) one (id));
    pair   jsonb;
begin
    -- Lock all entities first, in the order of their names, like every writer.
    perform claim_known(origin.space_id, array(select e.name from entity e where e.space_id = origin.space_id and e.id = any(ids)));
    for pair in select value from jsonb_array_elements(pairs) loop
        return query
            select m.kept_id, m.kept_name, m.kept_type, m.merged_id, m.merged_name, m.merged_type,
                m.facts, m.relations, m.duplicate_facts, m.duplicate_relations
            from merge_entities(pair ->> 0, pair ->> 1, dry_run, credential, origin.space_id, client, tool, request) m;
    end loop;
end
$$;

comment on function textrawl.merge_pairs is
    'Merge several pairs of entities of one space, all or none: see merge_entities(). Errors: those of merge_entities(). '
    'Example: select * from textrawl.merge_pairs((select jsonb_agg(jsonb_build_array(entity_id, other_id)) '
    'from textrawl.memory_same_entities where score > 0.9), dry_run => true);';
