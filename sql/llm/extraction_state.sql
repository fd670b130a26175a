create function textrawl.extraction_state(spaces integer[] default null, credential bytea default null)
returns table (
    last_attempt timestamptz, last_success timestamptz,
    last_error text,  -- error of the last attempt; null: it was successful
    attempts_total bigint, successes_total bigint, nodes_created_total bigint, edges_created_total bigint,
    pending bigint    -- journal entries that wait for extraction
)
language sql stable security definer rows 1
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, extraction_state.spaces) as ids
    )
    select max(t.last_attempt), max(t.last_success),
        (array_agg(t.last_error order by t.last_attempt desc nulls last))[1],
        coalesce(sum(t.attempts), 0)::bigint, coalesce(sum(t.successes), 0)::bigint,
        coalesce(sum(t.nodes_created), 0)::bigint, coalesce(sum(t.edges_created), 0)::bigint,
        (select count(*) from textrawl.extraction_pending p where p.space_id = any((select ids from scope)::integer[]))
    from textrawl.extraction_total t
    where t.space_id = any((select ids from scope)::integer[]);
end;

comment on function textrawl.extraction_state is
    'Totals of the extraction of nodes and edges from journal entries, always one row. Errors: TR010, TR011 '
    '(access). Example: select attempts_total, last_error from textrawl.extraction_state();';
