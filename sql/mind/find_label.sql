create function textrawl.find_label(space integer, label text) returns uuid
language sql stable
begin atomic
    select found.id
    from (
        select e.id, 0 as rank, e.created_at from textrawl.entity e
        left join textrawl.graph_node n on n.space_id = e.space_id and n.entity_id = e.id
        where e.space_id = find_label.space and e.name_key = textrawl.entity_key(find_label.space, find_label.label)
          and n.label is null and n.deleted_at is null
        union all
        select e.id, 1, e.created_at from textrawl.graph_node n
        join textrawl.entity e on e.space_id = n.space_id and e.id = n.entity_id
        where n.space_id = find_label.space and n.label_key = textrawl.name_key(find_label.label) and n.deleted_at is null
    ) found
    order by found.rank, found.created_at, found.id limit 1;
end;

comment on function textrawl.find_label is
    'The node with a label. If several nodes have the label, the entity that has the label as its name, otherwise the '
    'oldest node. Null if no node has the label.';
