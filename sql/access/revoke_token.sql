create function textrawl.revoke_token(name text)
returns table (token integer, prefix text, actor text, revoked_at timestamptz)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    chosen token;
begin
    perform require_owner();
    chosen := find_token(revoke_token.name);
    return query
        update token t set revoked_at = coalesce(t.revoked_at, clock_timestamp())
        from actor a where t.id = chosen.id and a.id = t.actor_id
        returning t.id, t.prefix, a.name, t.revoked_at;
end
$$;

comment on function textrawl.revoke_token is
    'Revoke a token by its prefix or id. The next call with the token fails. Errors: TR013 (not the owner), TR022 (no '
    'such token). '
    'Example: select * from textrawl.revoke_token(name => ''trl_example'');';
