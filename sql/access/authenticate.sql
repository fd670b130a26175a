create function textrawl.authenticate(credential bytea default null)
returns table (
    token integer,       -- id of the token; 0 without a credential
    actor text,
    home integer,        -- id of the home space
    federated boolean,   -- true if an identity provider issued the token
    expires_at timestamptz,
    spaces jsonb         -- [{id, name, scopes, tier}]; the tier is null if the space holds facts
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    found_token token;
    rights      jsonb;
begin
    select * into found_token from token t
    where t.hash = credential and is_live_token(t.revoked_at, t.expires_at);
    if credential is not null and found_token.id is null then
        return;
    end if;
    if coalesce(found_token.last_used_at < now() - interval '1 minute', found_token.id is not null) and not pg_is_in_recovery() then
        -- Do not wait for another session that is recording the same minute.
        update token t set last_used_at = now()
        where t.id = (select id from token unlocked where unlocked.id = found_token.id for update skip locked);
    end if;
    select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'scopes', r.scopes, 'tier', s.tier) order by s.name), '[]'),
        max(r.space_id) filter (where r.home)
    into rights, home
    from access_rights(credential) r join space s on s.id = r.space_id;
    if found_token.home_space_id is null and home is null then
        -- The only space with facts in which the credential can write, or else the only graph that servers show.
        select case when count(*) filter (where w.tier is null) = 1 then max(w.id) filter (where w.tier is null)
                    when count(*) = 1 then max(w.id) end into home
        from (select (value ->> 'id')::integer as id, value ->> 'tier' as tier from jsonb_array_elements(rights)
              where value -> 'scopes' ?| array['propose', 'write', 'forget'] and value ->> 'tier' is distinct from 'sensitive') w;
    end if;
    if credential is null and rights = '[]' then
        return;
    end if;
    return query select coalesce(found_token.id, 0),
        coalesce((select a.name from actor a where a.id = found_token.actor_id),
                 (select a.name from actor a where a.role_name = session_user), session_user::text),
        home, coalesce(found_token.kind = 'federated', false), found_token.expires_at, rights;
end
$$;

comment on function textrawl.authenticate is
    'The actor, home space and rights of a credential. A credential that is not valid gives no row. Without a '
    'credential: the actor, home space and rights of this session.';
