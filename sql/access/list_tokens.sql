create function textrawl.list_tokens()
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
begin
    perform require_owner();
    return query
        select t.id, t.prefix, a.name, s.name, t.scopes, t.created_at, t.last_used_at, t.expires_at,
            case when is_live_token(t.revoked_at, t.expires_at) then 'valid'
                 when t.revoked_at is not null then 'revoked'
                 else 'expired' end
        from token t join actor a on a.id = t.actor_id left join space s on s.id = t.home_space_id
        where t.kind = 'bearer' order by t.id;
end
$$;

comment on function textrawl.list_tokens is
    'All tokens created by `textrawl token`, oldest first. Error TR013: not the owner. '
    'Example: select * from textrawl.list_tokens();';
