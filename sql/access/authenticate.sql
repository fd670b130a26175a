create function textrawl.authenticate(credential bytea default null)
returns table (token integer, actor text, home integer, federated boolean, expires_at timestamptz, spaces jsonb)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    given token;
    may   jsonb;
begin
    select * into given from token t
    where t.hash = credential and is_live_token(t.revoked_at, t.expires_at);
    if credential is not null and given.id is null then
        return;
    end if;
    if coalesce(given.last_used_at < now() - interval '1 minute', given.id is not null) and not pg_is_in_recovery() then
        -- Nobody waits for another's note of the same minute.
        update token t set last_used_at = now()
        where t.id = (select id from token noted where noted.id = given.id for update skip locked);
    end if;
    select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'scopes', r.scopes) order by s.name), '[]'),
        max(r.space_id) filter (where r.home)
    into may, home
    from access_rights(credential) r join space s on s.id = r.space_id;
    if given.home_space_id is null and home is null then
        select max((value ->> 'id')::integer) into home from jsonb_array_elements(may)
        where value -> 'scopes' ?| array['write', 'forget'] having count(*) = 1;
    end if;
    if credential is null and may = '[]' then
        return;
    end if;
    return query select coalesce(given.id, 0),
        coalesce((select a.name from actor a where a.id = given.actor_id),
                 (select a.name from actor a where a.role_name = session_user), session_user::text),
        home, coalesce(given.kind = 'federated', false), given.expires_at, may;
end
$$;

comment on function textrawl.authenticate is
    'Who a credential is, the home of its writes, and spaces [{id, name, scopes}]; no row where it is not valid. Without one: this session.';
