create function textrawl.rotate_token(
    name text, hash bytea, prefix text, overlap interval default '1 hour', expires_at timestamptz default null
)
returns table (
    token integer, actor text, home text, scopes text[],
    ends_at timestamptz,        -- time of expiry of the new token
    former_ends_at timestamptz  -- time of expiry of the replaced token
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    former  token;
    created token;
begin
    perform require_owner();
    former := find_token(rotate_token.name);
    if not is_live_token(former.revoked_at, former.expires_at) then
        raise exception using errcode = 'TR022', message = format('the token %s is no longer valid', rotate_token.name),
            detail = coalesce(rotate_token.name, '');
    elsif not coalesce(overlap between interval '0' and interval '1000 years', false) then
        raise exception using errcode = 'TR029', message = 'the overlap must be between 0 and 1000 years',
            detail = 'the overlap must be between 0 and 1000 years';
    end if;
    perform check_token(rotate_token.hash, rotate_token.prefix, rotate_token.expires_at);
    insert into token as t (hash, kind, prefix, actor_id, home_space_id, scopes, expires_at, issuer)
    values (rotate_token.hash, 'bearer', rotate_token.prefix, former.actor_id, former.home_space_id, former.scopes,
            coalesce(rotate_token.expires_at, former.expires_at), former.issuer)
    returning * into created;
    update token t set expires_at = least(t.expires_at, now() + overlap) where t.id = former.id
    returning * into former;
    return query
        select created.id, a.name, s.name, created.scopes, created.expires_at, former.expires_at
        from actor a left join space s on s.id = created.home_space_id where a.id = created.actor_id;
end
$$;

comment on function textrawl.rotate_token is
    'Replace a token, given by its prefix or id, with a new token that has the same actor, home space, scopes and '
    'issuer, and also its time of expiry if none is given. The former token stays valid for the overlap. Errors: TR013 '
    '(not the owner), TR022 (no such token, or it is no longer valid), TR029 (wrong hash, prefix, overlap or time of '
    'expiry). '
    'Example: select * from textrawl.rotate_token(name => ''trl_example'', hash => sha256(''trl_…''), prefix => '
    '''trl_another'');';
