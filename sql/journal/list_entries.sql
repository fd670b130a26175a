create function textrawl.list_entries(
    of_granularity text default null,  -- null: all
    before_date date default null,     -- entries that begin on this day or before
    after_date date default null,      -- entries that end on this day or later
    max_rows integer default 20, skip integer default 0,
    credential bytea default null, space integer default null
) returns table (
    path text, granularity text, date text, slug text, instance text,
    preview text,      -- the first 100 characters
    length integer, number integer, modified_at timestamptz,
    total bigint       -- number of entries on all pages
)
language plpgsql stable security definer rows 20
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := graph_space(credential, space);
begin
    return query
    with fitting as materialized (
        select j.document_id, j.period, j.path from journal_entries(home) j
        where (of_granularity is null or j.granularity = of_granularity)
          and (before_date is null or lower(j.period) <= before_date)
          and (after_date is null or upper(j.period) > after_date)
    ), page as (
        select f.* from fitting f order by lower(f.period) desc, f.path limit max_rows offset skip
    ), counted as (
        select count(*) as total from fitting
    )
    -- If the page is empty, return one row with only the total.
    select j.path, j.granularity, j.date, j.slug, j.instance, left(j.content, 100), char_length(j.content), j.number,
        j.modified_at, counted.total
    from counted
    left join page p on true
    left join journal_entries(home) j on j.document_id = p.document_id
    order by lower(p.period) desc, p.path;
end
$$;

comment on function textrawl.list_entries is
    'Journal entries, newest first, with the first characters of their texts. Errors: TR010, TR011 (access). '
    'Example: select date, preview from textrawl.list_entries(of_granularity => ''weekly'');';
