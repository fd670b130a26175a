create function textrawl.open_encrypted_graph(
    credential bytea, graph text, scope text, client text default null, tool text default 'sql', request text default null
) returns textrawl.origin
language plpgsql volatile
set search_path from current
as $$
declare
    origin origin := open_graph(credential, graph, scope, client, tool, request, sensitive => true);
begin
    if (select s.tier from space s where s.id = origin.space_id) <> 'sensitive' then
        raise exception using errcode = 'TR130', message = 'only a sensitive graph is encrypted', detail = graph;
    end if;
    return origin;
end
$$;

comment on function textrawl.open_encrypted_graph is
    'Determine the graph and the author of a call for encrypted documents. Errors: TR010, TR011 (access), TR063 (no such '
    'graph), TR130 (the graph is not sensitive).';
