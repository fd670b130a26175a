create function textrawl.delete_entry(
    granularity text, date text, instance text default null, slug text default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out path text,
    out deleted boolean  -- false: there is no entry with exactly this key
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin   origin := open_write(credential, space, 'forget', client, tool, request);
    entity   text;
    document uuid;
begin
    select k.path, k.entity into path, entity from journal_key(granularity, date, instance, slug) k;
    perform claim_removal();
    perform from entity e where e.space_id = origin.space_id and e.name_key = (select entity_key(origin.space_id, entity)) for update;
    select d.id into document from document d
    where d.space_id = origin.space_id and d.kind = 'journal' and d.path = delete_entry.path for update;
    deleted := found;
    if deleted then
        perform erase_document(document, origin);
    end if;
end
$$;

comment on function textrawl.delete_entry is
    'Delete a journal entry for good, with all its versions, facts and vectors. The key of a daily entry needs the '
    'instance. The key of a significant entry needs the slug, if the entry has one. The trail keeps the key. Errors: '
    'TR010 to TR012 (access), TR056 (wrong key). '
    'Example: select deleted from textrawl.delete_entry(''daily'', ''2026-05-12'', ''laptop'');';
