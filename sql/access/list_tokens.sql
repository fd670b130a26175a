create function textrawl.list_tokens(credential bytea default null)
returns table (
    id integer, prefix text, actor text, home text, scopes text[], created_at timestamptz,
    last_used_at timestamptz,  -- to the minute
    expires_at timestamptz,
    state text                 -- valid, expired or revoked
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    space_ids integer[];  -- null for the owner
begin
    if not owns_memory() then
        select array_agg(r.space_id) into space_ids from access_rights(credential) r where 'admin' = any(r.scopes);
        if space_ids is null then
            perform refuse_access(credential, 'admin');
        end if;
    end if;
    return query
        select t.id, t.prefix, a.name, s.name, t.scopes, t.created_at, t.last_used_at, t.expires_at,
            case when is_live_token(t.revoked_at, t.expires_at) then 'valid'
                 when t.revoked_at is not null then 'revoked'
                 else 'expired' end
        from token t join actor a on a.id = t.actor_id left join space s on s.id = t.home_space_id
        where t.kind = 'bearer' and (space_ids is null or t.home_space_id = any(space_ids)) order by t.id;
end
$$;

comment on function textrawl.list_tokens is
    'The tokens created by `textrawl token`, oldest first. The owner sees all tokens. A credential sees the tokens whose '
    'home space it administers. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.list_tokens();';
