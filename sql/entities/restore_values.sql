create function textrawl.restore_values(record textrawl.merge) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space   integer := record.space_id;
    present jsonb := entity_values(record.space_id, record.kept_id);
begin
    perform restore_type(record);
    update observation o set repository = fact_repository(o.entity_type, l.value)
    from jsonb_each_text(nullif(record.former -> 'repositories', 'null')) l where o.space_id = space and o.id = l.key::uuid;
    -- Reset a value of the kept entity only if nobody has changed it since the merge.
    if present -> 'description' = record.given -> 'description' then
        update entity e set description = record.former ->> 'description' where e.space_id = space and e.id = record.kept_id;
    end if;
    if record.former -> 'node' = 'null' and present -> 'node' = record.given -> 'node' then
        delete from graph_node n where n.space_id = space and n.entity_id = record.kept_id;
    end if;
    insert into graph_node
    select n.* from jsonb_populate_record(null::graph_node, nullif(record.entity -> 'node', 'null')) n
    where n.entity_id is not null
      and (n.description_id is null or exists (select from fact f where f.space_id = space and f.id = n.description_id));
    insert into graph_change
    select c.* from jsonb_populate_recordset(null::graph_change, record.entity -> 'changes') c;
    insert into entity_use select u.* from jsonb_populate_recordset(null::entity_use, record.entity -> 'uses') u;
    insert into joint_use
    select j.* from jsonb_populate_recordset(null::joint_use, record.entity -> 'joint') j
    where exists (select from entity e where e.space_id = space and e.id = j.one)
      and exists (select from entity e where e.space_id = space and e.id = j.other);
end
$$;

comment on function textrawl.restore_values is
    'Give both entities of a merge the values that they had before it: type, repositories, description, values of the node, use.';
