create function textrawl.list_namespaces(
    prefix text[] default '{}', suffix text[] default '{}',  -- * stands for any label
    depth integer default null,     -- labels that count, from the outermost; null: all
    max_rows integer default 100, skip integer default 0,
    credential bytea default null, space integer default null
) returns table (labels text[])
language plpgsql stable security definer
set search_path from current
as $$
declare
    home    integer := graph_space(credential, space);
    -- A namespace that has something, and the labels that count.
    chosen text := format($sql$
        select n.labels[:$2] as head from item_namespace n
        where n.space_id = $1 and %s %s
          and exists (select from item i
                      where i.space_id = n.space_id and i.namespace_id = n.id and i.present and is_unexpired(i.expires_at))$sql$,
        labels_condition(prefix, 'n.labels', wild => true),
        case when suffix <> '{}' then format(
            'and matches_labels(n.labels[greatest(1, cardinality(n.labels) - %s):], %L::text[])', cardinality(suffix) - 1, suffix) end);
begin
    if depth is null then
        return query execute chosen || ' order by n.labels limit $3 offset $4' using home, 100, max_rows, skip;
        return;
    end if;
    -- Each step finds one namespace by the index, so the namespaces below it cost nothing. No label is empty, so a list
    -- with an empty label at its end lies between a namespace and the next one.
    return query execute format($sql$
        with recursive step as (
            (%1$s order by n.labels limit 1)
            union all
            select (%1$s and n.labels >= case when cardinality(step.head) < $2 then step.head || ''::text else namespace_end(step.head) end
                    order by n.labels limit 1)
            from step where step.head is not null)
        select step.head from step where step.head is not null limit $3 offset $4$sql$, chosen)
    using home, depth, max_rows, skip;
end
$$;

comment on function textrawl.list_namespaces is
    'The namespaces that have an item or a log, in the order of code points. With a depth, only their first labels, each '
    'once. Errors: TR010, TR011 (access). '
    'Example: select labels from textrawl.list_namespaces(array[''users''], depth => 2);';
