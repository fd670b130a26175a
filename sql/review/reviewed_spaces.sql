create function textrawl.reviewed_spaces(credential bytea default null, space integer default null) returns integer[]
language sql stable parallel safe security definer
set search_path from current
begin atomic
    select coalesce(array_agg(r.space_id order by r.home desc, r.space_id), '{}')
    from textrawl.access_rights(credential) r
    where r.scopes @> array['read', 'review'] and (reviewed_spaces.space is null or r.space_id = reviewed_spaces.space);
end;

comment on function textrawl.reviewed_spaces is
    'The spaces whose proposals a credential, or this session, can see and decide: it has the scopes read and review '
    'there. '
    'Example: select textrawl.reviewed_spaces();';
