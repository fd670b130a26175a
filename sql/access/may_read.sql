create function textrawl.may_read(credential bytea, space integer) returns boolean
language sql stable parallel safe
set search_path from current
begin atomic
    select exists (
        select from textrawl.access_rights(credential) r where r.space_id = may_read.space and 'read' = any(r.scopes));
end;

comment on function textrawl.may_read is
    'True if a credential, or this session, may read a space. Otherwise answers contain only what the caller sent, ids and '
    'counts.';
