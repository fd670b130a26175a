create function textrawl.may_read(credential bytea, space integer) returns boolean
language sql stable parallel safe
begin atomic
    select exists (
        select from textrawl.access_rights(credential) r where r.space_id = may_read.space and 'read' = any(r.scopes));
end;

comment on function textrawl.may_read is
    'True if a credential, or this session, can read a space. Answers to a caller that cannot read the space contain '
    'only ids, counts and the content that the caller sent.';
