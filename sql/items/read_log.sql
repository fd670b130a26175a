create function textrawl.read_log(
    namespace text[], last_rows integer default null,  -- null: all
    credential bytea default null, space integer default null
) returns table (place bigint, value json)
language sql stable security definer
set search_path from current
begin atomic
    select e.place, e.content::json
    from (
        select i.place, i.content
        from textrawl.item_namespace n
        cross join lateral textrawl.present_items(n.space_id) i
        where n.space_id = (select textrawl.graph_space(credential, space)) and n.labels = read_log.namespace
          and i.namespace_id = n.id and i.place is not null
        order by i.place desc limit last_rows) e
    order by e.place;
end;

comment on function textrawl.read_log is
    'The entries of a log in their order, or only the last ones. Errors: TR010, TR011 (access). '
    'Example: select value from textrawl.read_log(array[''sessions'', ''7''], 10);';
