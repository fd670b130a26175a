create function textrawl.delete_nodes(
    names text[],
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    name text,
    deleted boolean  -- false if there was no entity with this name
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin    origin := open_write(credential, space, 'forget', client, tool, request);
    entry     record;
    locked    jsonb := '{}';
    forgotten text[] := '{}';
    keys      text[] := array(select entity_key(origin.space_id, n) from unnest(names) with ordinality input(n, place) order by place);
begin
    perform claim_removal(alone => true);
    -- Lock all entities first, in the order of names, like every writer. Locking and forgetting them one by one could
    -- deadlock. The reason is that forgetting an entity also locks facts that were moved to another entity. A writer
    -- can hold this other entity and wait for the next entity of this call.
    for entry in select distinct on (key) key, name from unnest(keys, names) input(key, name) order by key loop
        if exists (select from entity e where e.space_id = origin.space_id and e.name_key = entry.key for update) then
            locked := locked || jsonb_build_object(entry.key, entry.name);
        elsif (forget_entity(entry.name, credential => delete_nodes.credential, space => delete_nodes.space,
                             client => delete_nodes.client, tool => delete_nodes.tool, request => delete_nodes.request)
            ).entity_id is not null then
            -- The entity existed only in an undo, or another session created it meanwhile.
            forgotten := forgotten || entry.key;
        end if;
    end loop;
    for entry in select l.key, l.value as name from jsonb_each_text(locked) l order by l.key loop
        perform forget_entity(entry.name, credential => delete_nodes.credential, space => delete_nodes.space,
                              client => delete_nodes.client, tool => delete_nodes.tool, request => delete_nodes.request);
        forgotten := forgotten || entry.key;
    end loop;
    return query
        select input.name, input.key = any(forgotten)
        from unnest(names, keys) with ordinality input(name, key, place) order by input.place;
end
$$;

comment on function textrawl.delete_nodes is
    'Forget entities with all their facts and relations. Errors: TR010 to TR012 (access).';
