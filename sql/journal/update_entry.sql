create function textrawl.update_entry(
    granularity text, date text, content text,
    editor text default null,            -- who changes the text; null: the instance
    instance text default null, slug text default null,
    extracting boolean default false,       -- true: queue a changed text for extraction
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out document_id uuid, out space_id integer, out path text, out number integer,
    out created boolean, out merged boolean, out changed boolean  -- as of write_entry()
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin  origin := open_write(credential, space, 'write', client, tool, request);
    variant record;
begin
    perform journal_period(granularity, date);  -- a wrong key is an error, not an entry that is missing
    select j.path, j.slug, count(*) over () as fitting into variant
    from journal_entries(origin.space_id) j
    where j.granularity = update_entry.granularity and j.date = update_entry.date
      and (slug is null or j.slug = update_entry.slug)
      and (instance is null or granularity <> 'daily' or split_part(j.path, '/', 3) = instance)
    -- If no slug is given, prefer the entry without a slug.
    order by j.slug nulls first limit 1;
    if variant.fitting > 1 and (granularity = 'daily' or variant.slug is not null) then
        raise exception using errcode = 'TR058', message = 'the key fits several entries', detail = variant.fitting;
    elsif variant.path is not null then
        slug := variant.slug;
        instance := case when granularity = 'daily' then split_part(variant.path, '/', 3) else instance end;
    end if;
    if granularity <> 'daily' then
        instance := coalesce(instance, case when editor ~ '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$' then editor end, 'unknown');
    end if;
    select w.document_id, w.space_id, w.path, w.number, w.created, w.merged, w.changed
    into document_id, space_id, path, number, created, merged, changed
    from write_entry(granularity, date, content, instance, slug, editor => editor, overwrite => true, extracting => extracting, credential => credential,
                     space => origin.space_id, client => client, tool => tool, request => request) w;
end
$$;

comment on function textrawl.update_entry is
    'Replace the text of a journal entry, and keep its chat ids, participants and instance. If there is no entry, create '
    'it. The former text stays in document_version. Errors: TR010 to TR012 (access), TR056 (wrong key), TR057 (no text, '
    'or more than 200,000 characters), TR058 (the key fits several entries). '
    'Example: select number from textrawl.update_entry(''weekly'', ''2026-W19'', ''A quiet week.'', editor => ''ben'');';
