create function textrawl.has_labels(prefix text[]) returns text
language sql stable parallel safe
begin atomic
    select case when prefix = '{}' then 'true' else format(
        '(select %s from textrawl.item_namespace n where n.space_id = i.space_id and n.id = i.namespace_id)',
        textrawl.labels_condition(prefix, 'n.labels')) end;
end;

comment on function textrawl.has_labels is
    'The condition of a query that the namespace of an item i begins with the labels of a prefix. It is not a join, because the planner '
    'would begin with the namespaces.';
