create function textrawl.labels_condition(
    prefix text[], labels text,
    wild boolean default false  -- true: * stands for any label
) returns text
language sql stable parallel safe
begin atomic
    -- Literals, so that the planner knows how many namespaces there are. A column of a function has lost the collation of
    -- its table.
    select concat_ws(' and ',
        case when below <> '{}' then format(
            '%1$s collate "C" >= %2$L::text[] and %1$s collate "C" < %3$L::text[]', labels, below, textrawl.namespace_end(below)) end,
        case when below <> prefix then format('textrawl.matches_labels(%s[:%s], %L::text[])', labels, cardinality(prefix), prefix) end,
        'true')
    from (select case when wild
              then coalesce(prefix[:coalesce(array_position(prefix, '*') - 1, cardinality(prefix))], '{}')
              else prefix end as below) p;
end;

comment on function textrawl.labels_condition is
    'The condition of a query that a column begins with the labels of a prefix. '
    'Example: select textrawl.labels_condition(array[''users'', ''ada''], ''n.labels'');';
