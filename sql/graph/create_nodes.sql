create function textrawl.create_nodes(
    entities jsonb, model integer default null, embeddings halfvec[] default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    name text, entity_type text, created boolean,
    added bigint,        -- number of new observations
    observations text[]  -- all observations; only the sent observations if the caller cannot read the space
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin       origin := open_write(credential, space, 'write', client, tool, request);
    moment       timestamptz := clock_timestamp();
    claimed      jsonb;
    nodes        jsonb;
    added_counts jsonb;
    readable     boolean := may_read(credential, origin.space_id);
begin
    -- Lock entities in the order of names, so that two writers cannot deadlock. Set the times of creation in the order of the
    -- input, because read_graph() returns entities in the order of creation.
    select coalesce(jsonb_object_agg(input.key, to_jsonb(c)), '{}') into claimed
    from (select distinct on (entity_key(origin.space_id, value ->> 'name')) entity_key(origin.space_id, value ->> 'name') as key, ordinality,
              value ->> 'name' as name, value ->> 'type' as type
          from jsonb_array_elements(entities) with ordinality
          order by entity_key(origin.space_id, value ->> 'name'), ordinality) input
    cross join lateral claim_node(input.name, input.type, moment + input.ordinality * interval '1 microsecond', origin) c;
    perform retype_node((existing.value ->> 'id')::uuid, input.type, origin)
    from (select distinct on (entity_key(origin.space_id, value ->> 'name')) entity_key(origin.space_id, value ->> 'name') as key, value ->> 'type' as type
          from jsonb_array_elements(entities) with ordinality
          order by entity_key(origin.space_id, value ->> 'name'), ordinality) input
    join jsonb_each(claimed) existing on existing.key = input.key
    where not (existing.value ->> 'created')::boolean;
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', claimed -> entity_key(origin.space_id, value ->> 'name') ->> 'id', 'observations', value -> 'observations') order by ordinality), '[]')
    into nodes from jsonb_array_elements(entities) with ordinality;
    select coalesce(jsonb_object_agg(new.id, new.added), '{}') into added_counts
    from (select nodes -> (k.place - 1)::integer ->> 'id' as id, count(*) as added
          from keep_observations(nodes, create_nodes.model, embeddings, origin) k group by 1) new;
    return query
        select case when readable then e.name else entities -> (first.place - 1)::integer ->> 'name' end,
            case when readable then free_type(e.entity_type, e.metadata)
                 else coalesce(entities -> (first.place - 1)::integer ->> 'type', 'Generic') end,
            (claimed -> e.name_key ->> 'created')::boolean, coalesce((added_counts ->> e.id::text)::bigint, 0),
            case when readable then list_observations(e.space_id, e.id) else first.sent end
        from (select node.value ->> 'id' as id, min(node.ordinality) as place,
                  coalesce(
                      array_agg(observation_text(text.value) order by node.ordinality, text.ordinality)
                          filter (where text.value is not null),
                      '{}') as sent
              from jsonb_array_elements(nodes) with ordinality node
              left join lateral jsonb_array_elements(coalesce(nullif(node.value -> 'observations', 'null'), '[]'))
                  with ordinality text on true
              group by 1) first
        join entity e on e.space_id = origin.space_id and e.id = first.id::uuid
        order by first.place;
end
$$;

comment on function textrawl.create_nodes is
    'Create entities [{name, type, observations}]. If an entity exists, add the observations to it. The '
    'parameter embeddings has one vector for each observation. Errors: TR010 to TR012 (access). '
    'Example: select * from textrawl.create_nodes(''[{"name": "Ada", "type": "Engineer", "observations": ["leads QA"]}]'');';
