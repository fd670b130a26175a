create function textrawl.export_spaces()
returns table (
    kind text, name text, language text, created_at timestamptz, archived_at timestamptz,
    tier text, recall_tokens integer  -- null for a space with facts
)
language sql stable
begin atomic
    select 'space'::text, s.name, s.language, s.created_at, s.archived_at, s.tier, s.recall_tokens
    from textrawl.space s order by s.name collate "C";
end;

comment on function textrawl.export_spaces is
    'Spaces as lines of an export. Example: select row_to_json(s) from textrawl.export_spaces() s;';
