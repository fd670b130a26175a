create function textrawl.open_graph(
    credential bytea, graph text, scope text, client text, tool text, request text,
    sensitive boolean default false  -- true: a person, not an MCP client, writes, so the graph can be sensitive
) returns textrawl.origin
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    chosen record;
begin
    if credential is not null and not exists (select from access_rights(credential)) then
        perform refuse_access(credential, scope);
    end if;
    select r.space_id, r.actor_id, r.scopes into chosen
    from access_rights(credential) r join space s on s.id = r.space_id
    where s.name = graph and (s.tier in ('public', 'personal') or sensitive and s.tier = 'sensitive')
      and r.scopes && array['read', scope];
    if not found then
        raise exception using errcode = 'TR063', message = 'there is no such graph', detail = coalesce(left(graph, 200), '');
    elsif not scope = any(chosen.scopes) then
        perform refuse_access(credential, scope);
    end if;
    return row(chosen.space_id, coalesce(chosen.actor_id, register_actor(session_user)), client, tool, request, false)::origin;
end
$$;

comment on function textrawl.open_graph is
    'Determine the graph and the author of a call that changes sources. A graph that is sensitive or that the caller '
    'cannot read is refused like one that does not exist. Errors: TR010 (unknown credential), TR011 (not allowed), TR063 '
    '(no such graph).';
