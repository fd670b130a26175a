create function textrawl.may_rename_actors(credential bytea) returns boolean
language sql stable
begin atomic
    select textrawl.owns_memory() and credential is null
        or exists (select from textrawl.token t where t.hash = credential and t.kind = 'local' and textrawl.is_live_token(t.revoked_at, t.expires_at));
end;

comment on function textrawl.may_rename_actors is
    'True for the owner of the memory and for the local token of an embedded memory: actors belong to no space.';
