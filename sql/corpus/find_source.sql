create function textrawl.find_source(
    document uuid, scope text, credential bytea,
    graphs text[] default null,  -- only these graphs; null: all
    out space_id integer, out graph text
)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    scopes text[];
begin
    -- The id of a document is unique only in its space, so take the first readable graph that has it.
    select s.id, s.name, r.scopes into space_id, graph, scopes
    from access_rights(credential) r
    join space s on s.id = r.space_id
    join source c on c.space_id = s.id and c.document_id = find_source.document and c.content_hash is not null
    where s.tier in ('public', 'personal') and 'read' = any(r.scopes)
      and (find_source.graphs is null or s.name = any(find_source.graphs))
    order by r.home desc, s.id limit 1;
    if space_id is null then
        if credential is not null and not exists (select from access_rights(credential)) then
            perform refuse_access(credential, scope);
        end if;
        raise exception using errcode = 'TR066', message = 'there is no such source';
    elsif not scope = any(scopes) then
        perform refuse_access(credential, scope);
    end if;
end
$$;

comment on function textrawl.find_source is
    'The graph of a source, if the caller can read it and has a scope in it. A source in a sensitive graph is refused '
    'like one that does not exist. Errors: TR010, TR011 (access), TR066 (no such source).';
