create function textrawl.find_encrypted_graph(graph text, credential bytea) returns integer
language plpgsql stable
set search_path from current
as $$
declare
    found_graph record;
begin
    select s.id, s.tier, r.scopes into found_graph
    from access_rights(credential) r join space s on s.id = r.space_id
    where s.name = graph and s.tier is not null and r.scopes && array['read', 'write'];
    if not found then
        if credential is not null and not exists (select from access_rights(credential)) then
            perform refuse_access(credential, 'read');
        end if;
        raise exception using errcode = 'TR063', message = 'there is no such graph', detail = coalesce(left(graph, 200), '');
    elsif not 'read' = any(found_graph.scopes) then
        perform refuse_access(credential, 'read');
    elsif found_graph.tier <> 'sensitive' then
        raise exception using errcode = 'TR130', message = 'only a sensitive graph is encrypted', detail = graph;
    end if;
    return found_graph.id;
end
$$;

comment on function textrawl.find_encrypted_graph is
    'The id of a sensitive graph that the caller can read. Errors: TR010, TR011 (access), TR063 (no such graph), TR130 (the '
    'graph is not sensitive).';
