create function textrawl.other_node(space integer, node uuid, label text, type text) returns uuid
language sql stable
begin atomic
    with wanted as (
        select textrawl.name_key(coalesce(other_node.label, s.label)) as key,
            textrawl.name_key(coalesce(other_node.type, s.node_type)) as type_key
        from textrawl.node_states(other_node.space) s where s.entity_id = other_node.node
    )
    select s.entity_id
    from wanted
    cross join lateral (
        select e.id from textrawl.entity e where e.space_id = other_node.space and e.name_key = wanted.key
        union
        select n.entity_id from textrawl.graph_node n where n.space_id = other_node.space and n.label_key = wanted.key) named
    cross join lateral (
        select * from textrawl.node_states(other_node.space) o where o.entity_id = named.id offset 0) s
    where s.entity_id <> other_node.node and s.deleted_at is null
      and textrawl.name_key(s.label) = wanted.key and textrawl.name_key(s.node_type) = wanted.type_key
    order by s.created_at, s.entity_id limit 1;
end;

comment on function textrawl.other_node is
    'Another node that has the label and the type that a node would have after a change. Null if there is none. If `label` '
    'or `type` is null, the change keeps it.';
