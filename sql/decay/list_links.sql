create function textrawl.list_links(memories uuid[], credential bytea default null, space integer default null)
returns table (link_id uuid, from_id uuid, to_id uuid, relation_type text, strength double precision, created_at timestamptz)
language sql stable security definer
set search_path from current
begin atomic
    select l.id, l.from_id, l.to_id, l.relation_type, l.strength, l.created_at
    from textrawl.memory_link l
    where l.space_id = (select textrawl.graph_space(credential, list_links.space))
      and (l.from_id = any(memories) or l.to_id = any(memories))
    order by l.created_at, l.id;
end;

comment on function textrawl.list_links is
    'The links of memories, from them and to them, oldest first. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.list_links(array(select observation_id from textrawl.memory_decay));';
