create function textrawl.reachable_graphs(
    credential bytea default null,
    names text[] default null  -- only these graphs; null: all
) returns table (
    name text, readable boolean, writable boolean,
    home boolean  -- true for the home space of the credential
)
language sql stable security definer rows 5
set search_path from current
begin atomic
    select s.name, 'read' = any(r.scopes), 'write' = any(r.scopes), r.home
    from textrawl.access_rights(credential) r join textrawl.space s on s.id = r.space_id
    where s.tier in ('public', 'personal') and r.scopes && array['read', 'write']
      and (reachable_graphs.names is null or s.name = any(reachable_graphs.names))
    order by s.name;
end;

comment on function textrawl.reachable_graphs is
    'The graphs that a credential or this session can read or write through a server. Sensitive graphs and unknown names '
    'are left out. '
    'Example: select name from textrawl.reachable_graphs() where writable;';
