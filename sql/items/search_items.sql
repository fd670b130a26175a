create function textrawl.search_items(
    query text default null,      -- null: list the items
    prefix text[] default '{}',   -- the first labels of their namespaces
    filter jsonb default null,
    max_rows integer default 100, skip integer default 0,
    ordering text default 'key',  -- of a list: key or updated
    model integer default null, vector halfvec default null,
    credential bytea default null, space integer default null
) returns table (
    space_name text, namespace text[], key text, value json, metadata json, version integer, created_at timestamptz,
    updated_at timestamptz, expires_at timestamptz, author text, score double precision
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home     integer := graph_space(credential, space);
    seed     jsonb := filter_seed(filter);
begin
    if query is not null then
        return query
        select s.name, n.labels, i.key, v.content::json, (v.attributes ->> 'metadata')::json, v.number, i.created_at, i.updated_at,
            i.expires_at, a.name, f.score
        from rank_items(query, home, prefix, filter, max_rows, skip, model, vector) f
        join item i on i.space_id = home and i.document_id = f.document_id
        join item_namespace n on n.space_id = i.space_id and n.id = i.namespace_id
        join document d on d.space_id = i.space_id and d.id = i.document_id
        join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
        join actor a on a.id = v.author_id
        join space s on s.id = home
        order by f.score desc, i.updated_at desc, i.document_id;
        return;
    end if;
    return query execute format($sql$
        select s.name, i.labels, i.key, i.content::json, (i.attributes ->> 'metadata')::json, i.number, i.created_at, i.updated_at,
            i.expires_at, a.name, null::double precision
        from present_items($1) i join actor a on a.id = i.author_id join space s on s.id = $1
        where i.key is not null and %s %s %s
        order by %s limit $4 offset $5$sql$,
        labels_condition(prefix, 'i.labels'),
        -- `is true` hides the space from other indexes, so that the index of fields is used.
        case when seed is not null then
            'and i.document_id = any(array(select c.document_id from item c where c.fields @> $3 and (c.space_id = $1) is true))' end,
        case when filter is not null then 'and matches_filter(i.fields, $2)' end,
        case ordering when 'updated' then 'i.updated_at desc, i.document_id' else 'i.labels collate "C", i.key collate "C"' end)
    using home, filter, seed, max_rows, skip;
end
$$;

comment on function textrawl.search_items is
    'The items below a prefix of namespaces that meet a filter: with a query the best first, with a score from 0 to 1, otherwise in the '
    'order of namespaces and keys, or the newest first. Errors: TR010, TR011 (access), TR103 (an unknown operator in the '
    'filter, or $in without a list). '
    'Example: select key, value, score from textrawl.search_items(''green tea'', array[''users'']);';
