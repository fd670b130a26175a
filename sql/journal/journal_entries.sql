create function textrawl.journal_entries(space integer)
returns table (
    document_id uuid, entity_id uuid, path text, granularity text, date text, period daterange, slug text,
    instance text,     -- the instance that wrote the text first
    content text, attributes jsonb, number integer, created_at timestamptz, modified_at timestamptz, modified_by text
)
language sql stable
begin atomic
    -- The function sets no options, so that the planner can inline it.
    select d.id, d.entity_id, d.path, j.granularity, j.date, j.period, j.slug,
        coalesce(v.attributes ->> 'instance', j.instance_id), v.content, v.attributes, v.number, d.created_at, v.modified_at,
        v.modified_by
    from textrawl.journal_entry j
    join textrawl.document d on d.space_id = j.space_id and d.id = j.document_id
    join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where j.space_id = journal_entries.space and v.content is not null;
end;

comment on function textrawl.journal_entries is
    'The journal entries of a space with their current texts. Row-level security shows a session only the spaces that it '
    'can read. '
    'Example: select date, content from textrawl.journal_entries(1) where granularity = ''weekly'';';
