create function textrawl.claim_labels(
    nodes jsonb,     -- [{label, type}]
    others text[],   -- further labels: their entities are locked, and nothing else
    origin textrawl.origin
) returns table (
    place bigint,    -- position in nodes, from 1
    entity_id uuid,
    created boolean, -- true: the node did not exist, or it was deleted
    label text       -- label to store, because the entity has another name; otherwise null
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space     integer := origin.space_id;
    moment    timestamptz := clock_timestamp();
    candidate record;
    known     record;
    fresh     boolean;
    chosen    jsonb := '{}';
    guessed   jsonb := '{}';
begin
    for candidate in
        -- Lock entities in the order of names, as all writers do. Rank 0 is a node whose label was changed, rank 1 the
        -- entity with the label as its name, and a higher rank an entity with a longer name.
        with wanted as (
            select distinct on (name_key(value ->> 'label'), name_key(value ->> 'type'))
                value ->> 'label' as label, value ->> 'type' as type, name_key(value ->> 'label') as key,
                name_key(value ->> 'type') as type_key, ordinality as turn
            from jsonb_array_elements(nodes) with ordinality
            order by name_key(value ->> 'label'), name_key(value ->> 'type'), ordinality
        )
        select w.*, 0 as rank, e.name
        from wanted w join graph_node n on n.space_id = space and n.label_key = w.key and n.deleted_at is null
        join entity e on e.space_id = space and e.id = n.entity_id and name_key(free_type(e.entity_type, e.metadata)) = w.type_key
        union all
        select w.*, tries.rank, case tries.rank when 1 then w.label when 2 then node_name(w.label, w.type)
                                else node_name(w.label, w.type || ' ' || (tries.rank - 1)::text) end
        from wanted w, generate_series(1, 9) tries(rank)
        union all
        select distinct null, null, name_key(o), null, 0, 0, e.name from unnest(others) o
        join entity e on e.space_id = space and (
            e.name_key = entity_key(space, o)
            or e.id in (select n.entity_id from graph_node n where n.space_id = space and n.label_key = name_key(o)))
        order by key, rank, turn
    loop
        continue when chosen ? (candidate.key || e'\n' || candidate.type_key);
        fresh := false;
        loop
            select e.id, e.type_guessed, n.label_key, n.deleted_at,
                coalesce(n.label_key, e.name_key) = candidate.key or candidate.rank > 1 and n.label_key is null
                    -- The label is an alias of the entity.
                    or candidate.rank = 1 and e.name_key <> name_key(candidate.name) as same_label,
                name_key(free_type(e.entity_type, e.metadata)) = candidate.type_key as same_type
            into known
            from entity e left join graph_node n on n.space_id = space and n.entity_id = e.id
            where e.space_id = space and e.name_key = entity_key(space, candidate.name) for no key update of e;
            exit when known.id is not null or candidate.rank = 0 or candidate.type is null;
            select c.id, c.created into known.id, fresh from claim_node(candidate.name, candidate.type, moment, origin) c;
            -- If the entity is not new, another session has just created it: read it again.
            exit when fresh;
        end loop;
        continue when candidate.type is null or known.id is null
            or not fresh and not (known.same_label and (known.same_type or known.type_guessed));
        if not fresh and known.type_guessed then
            guessed := guessed || jsonb_build_object(known.id::text, candidate.type);
        end if;
        chosen := chosen || jsonb_build_object(candidate.key || e'\n' || candidate.type_key, jsonb_build_object(
            'id', known.id, 'created', fresh or known.deleted_at is not null,
            'turn', candidate.turn, 'label', case when candidate.rank > 1 and known.label_key is null then candidate.label end));
    end loop;
    perform retype_node(g.key::uuid, g.value, origin) from jsonb_each_text(guessed) g order by g.key;
    return query
        select input.ordinality, (c.value ->> 'id')::uuid,
            (c.value ->> 'created')::boolean and (c.value ->> 'turn')::bigint = input.ordinality, c.value ->> 'label'
        from jsonb_array_elements(nodes) with ordinality input
        cross join lateral (
            select chosen -> (name_key(input.value ->> 'label') || e'\n' || name_key(input.value ->> 'type')) as value) c
        order by input.ordinality;
end
$$;

comment on function textrawl.claim_labels is
    'Find the entity of each node by label and type, and ignore upper and lower case. Create the entities that are '
    'missing. Lock all of these entities until the transaction ends. If an entity of another type has the label as its '
    'name, the new entity is called `Label (type)`.';
