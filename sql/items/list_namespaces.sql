create function textrawl.list_namespaces(
    prefix text[] default '{}', suffix text[] default '{}',  -- * stands for any label
    depth integer default null,     -- labels that count, from the outermost; null: all
    max_rows integer default 100, skip integer default 0,
    credential bytea default null, space integer default null
) returns table (labels text[])
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home   integer := graph_space(credential, space);
    start  text[] := literal_labels(prefix);
    finish text[] := namespace_end(start);
    taken  integer := 0;
begin
    -- Each step finds one namespace by the index, so the namespaces below it cost nothing.
    while taken < skip + max_rows loop
        list_namespaces.labels := (
            select n.labels[:coalesce(depth, cardinality(n.labels))]
            from item_namespace n
            where n.space_id = home and n.labels >= start and n.labels < finish
              and matches_labels(n.labels[:cardinality(prefix)], prefix)
              and matches_labels(n.labels[greatest(1, cardinality(n.labels) - cardinality(suffix) + 1):], suffix)
              and exists (
                  select from item i
                  where i.space_id = n.space_id and i.namespace_id = n.id and i.present and is_unexpired(i.expires_at))
            order by n.labels limit 1);
        exit when list_namespaces.labels is null;
        taken := taken + 1;
        if taken > skip then
            return next;
        end if;
        -- No label is empty, so the first of these lies between a namespace and the next one, which can be below it.
        start := case when coalesce(cardinality(list_namespaces.labels) < depth, true) then list_namespaces.labels || ''::text
            else namespace_end(list_namespaces.labels) end;
    end loop;
end
$$;

comment on function textrawl.list_namespaces is
    'The namespaces that have an item or a log, in the order of code points. With a depth, only their first labels, each '
    'once. Errors: TR010, TR011 (access). '
    'Example: select labels from textrawl.list_namespaces(array[''users''], depth => 2);';
