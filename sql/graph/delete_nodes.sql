create function textrawl.delete_nodes(
    names text[],
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (name text, deleted boolean)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    forgotten jsonb;
begin
    perform open_write(credential, space, 'forget', client, tool, request);
    perform claim_removal(alone => true);
    -- In the order of names, like every writer.
    select coalesce(jsonb_object_agg(given.key, f.entity_id is not null), '{}') into forgotten
    from (select distinct on (name_key(n)) name_key(n) as key, n as name from unnest(names) n order by name_key(n)) given
    cross join lateral forget_entity(given.name, credential => delete_nodes.credential, space => delete_nodes.space,
                                     client => delete_nodes.client, tool => delete_nodes.tool, request => delete_nodes.request) f;
    return query
        select given.name, (forgotten ->> name_key(given.name))::boolean
        from unnest(names) with ordinality given(name, place) order by given.place;
end
$$;

comment on function textrawl.delete_nodes is
    'Forgets entities with all that is said about them; for each name whether there was one. Errors: TR010 to TR012 (access).';
