create function textrawl.readable_graphs(
    credential bytea default null,
    names text[] default null  -- only these graphs; null: all
) returns table (space_id integer, name text, tier text, cap integer, scopes text[])
language sql stable parallel safe security definer rows 5
set search_path from current
begin atomic
    select s.id, s.name, s.tier, textrawl.recall_cap(s.tier, s.recall_tokens), r.scopes
    from textrawl.access_rights(credential) r join textrawl.space s on s.id = r.space_id
    where s.tier in ('public', 'personal') and 'read' = any(r.scopes)
      and (readable_graphs.names is null or s.name = any(readable_graphs.names));
end;

comment on function textrawl.readable_graphs is
    'The graphs that a credential or this session can read through a server, with their caps. Sensitive graphs and '
    'unknown names are left out, so the result does not tell which graphs exist. '
    'Example: select name, cap from textrawl.readable_graphs();';
