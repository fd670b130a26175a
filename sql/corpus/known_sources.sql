create function textrawl.known_sources(
    graph text,
    credential bytea default null
) returns table (document_id uuid, path text, label text, content_hash text, chunks integer)
language plpgsql stable security definer rows 1000
set search_path from current
as $$
#variable_conflict use_column
declare
    target record;
begin
    select s.id, 'read' = any(r.scopes) as readable into target
    from access_rights(credential) r join space s on s.id = r.space_id
    where s.name = graph and s.tier in ('public', 'personal')
      and r.scopes && array['read', 'write'];
    if not found then
        raise exception using errcode = 'TR063', message = 'there is no such graph', detail = coalesce(left(graph, 200), '');
    end if;
    return query
        select s.document_id, d.path, s.label, s.content_hash, s.chunks
        from source s join document d on d.space_id = s.space_id and d.id = s.document_id
        where s.space_id = target.id and target.readable and s.content_hash is not null order by d.path;
end
$$;

comment on function textrawl.known_sources is
    'The sources of a graph with their hashes, so that an ingest can leave out unchanged files. A caller that can write '
    'but not read gets no rows. Error TR063: no such graph. '
    'Example: select path, chunks from textrawl.known_sources(''handbook'');';
