create function textrawl.known_labels(space integer, nodes jsonb, model integer, embeddings halfvec[])
returns table (
    key text,    -- name_key() of the label of a new node
    label text   -- label of the existing node
)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
        with fresh as (
            select value ->> 'label' as label, name_key(value ->> 'label') as key, name_key(value ->> 'type') as type,
                ordinality as place
            from jsonb_array_elements(nodes) with ordinality
        ), known as materialized (
            select s.entity_id, s.label, name_key(s.label) as key, name_key(s.node_type) as type, g.description_id
            from node_states(known_labels.space) s
            left join graph_node g on g.space_id = known_labels.space and g.entity_id = s.entity_id
            where s.deleted_at is null and name_key(s.node_type) in (select fresh.type from fresh)
        )
        select distinct on (f.key) f.key, k.label
        from fresh f join known k on k.type = f.type
        cross join lateral (
            select v.vector <=> embeddings[f.place] as distance from embedding v
            where v.model_id = known_labels.model and v.space_id = known_labels.space and v.observation_id = k.description_id offset 0) near
        where near.distance <= 0.2 and not exists (select from known same where same.key = f.key and same.type = f.type)
        order by f.key, near.distance;
end
$$;

comment on function textrawl.known_labels is
    'New nodes that are the same as an existing node with another label: the types are equal, and the cosine of the '
    'descriptions is at least 0.8. A new node whose label and type exist already is left out.';
