create function textrawl.import_node_values(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (the node has values already), or homeless (the entity is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with input as materialized (
        select g.*, exists (select from entity e where e.space_id = g.space and e.id = g.id) as housed
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, label text, described_by uuid, confidence real, properties jsonb,
            instance text, memory text, first_learned_at timestamptz, last_confirmed_at timestamptz, version integer,
            deleted_at timestamptz)
    ), inserted as (
        insert into graph_node as n (space_id, entity_id, label, label_key, description_id, confidence, properties, instance,
                                     memory, first_learned_at, last_confirmed_at, version, deleted_at)
        select distinct on (i.space, i.id)
            i.space, i.id, i.label, name_key(i.label), f.id, i.confidence, i.properties, i.instance,
            i.memory, i.first_learned_at, i.last_confirmed_at, i.version, i.deleted_at
        from input i left join fact f on f.space_id = i.space and f.id = i.described_by
        where i.housed order by i.space, i.id, i.place
        on conflict do nothing
        returning n.space_id, n.entity_id
    )
    select i.place, i.id,
        case when not i.housed then 'homeless'
            when n.entity_id is not null and row_number() over (partition by i.space, i.id order by i.place) = 1 then 'added'
            else 'known' end
    from input i left join inserted n on n.space_id = i.space and n.entity_id = i.id;
end
$$;

comment on function textrawl.import_node_values is
    'Import the values of nodes, after the entities and their facts. Error TR013: not the owner.';
