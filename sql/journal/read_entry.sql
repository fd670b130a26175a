create function textrawl.read_entry(
    granularity text, date text,
    instance text default null, slug text default null,  -- null: any
    credential bytea default null, space integer default null
) returns table (
    document_id uuid, path text, entry_slug text, source_instance text, content text,
    chat_ids text[], participants text[], number integer, created_at timestamptz, modified_at timestamptz, modified_by text,
    others text[]  -- paths of the other entries that match the key
)
language plpgsql stable security definer rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := graph_space(credential, space);
begin
    perform journal_period(granularity, date);  -- a wrong key is an error, not an entry that is missing
    return query
    with variant as (
        select j.*, row_number() over (order by j.created_at, j.path) as rank,
            array_agg(j.path) over (order by j.created_at, j.path
                                    rows between current row and unbounded following exclude current row) as later
        from journal_entries(home) j
        where j.granularity = read_entry.granularity and j.date = read_entry.date
          and (read_entry.slug is null or j.slug = read_entry.slug)
          -- Only the key of a daily entry has an instance.
          and (read_entry.instance is null or j.granularity <> 'daily' or split_part(j.path, '/', 3) = read_entry.instance)
    )
    select v.document_id, v.path, v.slug, v.instance, v.content,
        array(select jsonb_array_elements_text(v.attributes -> 'chat_ids')),
        array(select jsonb_array_elements_text(v.attributes -> 'participants')),
        v.number, v.created_at, v.modified_at, v.modified_by, coalesce(v.later, '{}')
    from variant v where v.rank = 1;
end
$$;

comment on function textrawl.read_entry is
    'A journal entry with its text. If several entries match the key, the oldest one is returned. Errors: TR010, TR011 '
    '(access), TR056 (wrong key). '
    'Example: select content from textrawl.read_entry(''weekly'', ''2026-W19'');';
