create function textrawl.list_snapshots(
    only_category text default null, only_filename text default null, only_id text default null,
    texts boolean default false,  -- true: with the texts of the files
    credential bytea default null, space integer default null
) returns table (
    id text, category text, filename text, created_at timestamptz, reason text, source text, pinned boolean,
    characters integer, content text
)
language plpgsql stable security definer rows 100
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := graph_space(credential, space);
begin
    return query
    select s.id, split_part(d.path, '/', 1), split_part(d.path, '/', 2), s.created_at, s.reason, s.source, s.pinned,
        char_length(v.content), case when texts then v.content end
    from identity_snapshot s
    join document d on d.space_id = s.space_id and d.id = s.document_id
    join document_version v on v.space_id = s.space_id and v.document_id = s.document_id and v.version = s.version
    where s.space_id = home
      and (only_id is null or s.id = only_id)
      and (only_category is null or split_part(d.path, '/', 1) = only_category)
      and (only_filename is null or split_part(d.path, '/', 2) = only_filename)
    order by s.created_at desc, s.id;
end
$$;

comment on function textrawl.list_snapshots is
    'The snapshots of identity files, newest first. Errors: TR010, TR011 (access). '
    'Example: select id, reason, content from textrawl.list_snapshots(only_filename => ''my_identity.md'', texts => true);';
