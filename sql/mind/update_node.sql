create function textrawl.update_node(
    node uuid,
    fields jsonb,  -- the values to change: label, type, description, and columns of the table graph_node
    model integer default null, embedding halfvec default null,  -- the vector of the description
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (readable boolean)  -- true: the caller can read the space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin  origin := open_write(credential, space, 'write', client, tool, request);
    target  entity;
    changes jsonb := fields - 'label' - 'type' - 'description';
    twin    uuid;
begin
    target := claim_live_node(update_node.node, origin);
    if fields ?| array['label', 'type'] then
        with wanted as (
            select name_key(coalesce(fields ->> 'label', s.label)) as key, name_key(coalesce(fields ->> 'type', s.node_type)) as type_key
            from node_states(origin.space_id) s where s.entity_id = update_node.node
        )
        select s.entity_id into twin
        from wanted
        cross join lateral (
            select e.id from entity e where e.space_id = origin.space_id and e.name_key = wanted.key
            union
            select n.entity_id from graph_node n where n.space_id = origin.space_id and n.label_key = wanted.key) named
        cross join lateral (select * from node_states(origin.space_id) o where o.entity_id = named.id offset 0) s
        where s.entity_id <> update_node.node and s.deleted_at is null
          and name_key(s.label) = wanted.key and name_key(s.node_type) = wanted.type_key
        order by s.created_at, s.entity_id limit 1;
        if twin is not null then
            raise exception using errcode = 'TR081', message = 'another node has this label and type', detail = twin::text;
        end if;
    end if;
    if fields ? 'label' then
        changes := changes || case when fields ->> 'label' = target.name then '{"label": null, "label_key": null}'
            else jsonb_build_object('label', fields -> 'label', 'label_key', name_key(fields ->> 'label')) end;
    end if;
    perform retype_node(update_node.node, fields ->> 'type', origin);
    if fields ? 'description' then
        changes := changes || jsonb_build_object('description_id', state_description(
            update_node.node, fields ->> 'description', (select m.id from embedding_model m where m.id = update_node.model),
            embedding, origin));
    end if;
    perform describe_node(update_node.node, changes, origin);
    return query select may_read(credential, origin.space_id);
end
$$;

comment on function textrawl.update_node is
    'Change values of a node. Its version increases by one, and properties are replaced as a whole. If the label changes, '
    'the entity keeps its name. Errors: TR080 (no such node), TR081 (another node has this label and type; the detail is '
    'its id), TR010 to TR012 (access).';
