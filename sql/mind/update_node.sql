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
        twin := other_node(origin.space_id, update_node.node, fields ->> 'label', fields ->> 'type');
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
