create function textrawl.access_rights(credential bytea default null)
returns table (actor_id integer, space_id integer, scopes text[], home boolean)
language plpgsql stable parallel safe security definer rows 2
set search_path from current
as $$
#variable_conflict use_column
declare
    given token;
begin
    if credential is not null then
        select * into given from token t
        where t.hash = credential and is_live_token(t.revoked_at, t.expires_at);
        if given.kind = 'local' then
            -- The person whose machine and memory this is: there is nobody to be kept out.
            return query
                select given.actor_id, s.id, given.scopes, s.id = given.home_space_id
                from space s where s.archived_at is null;
        elsif given.kind = 'bearer' then
            return query
                select given.actor_id, g.space_id, array(select unnest(g.scopes) intersect select unnest(given.scopes)),
                    g.space_id is not distinct from given.home_space_id
                from space_grant g join space s on s.id = g.space_id
                where g.actor_id = given.actor_id and s.archived_at is null and g.scopes && given.scopes;
        elsif given.kind = 'federated' then
            return query
                select given.actor_id, g.space_id, array(select unnest(g.scopes) intersect select unnest(given.scopes)), false
                from token voucher
                cross join access_rights(voucher.hash) vouched
                join space_grant g on g.space_id = vouched.space_id
                where voucher.id = given.voucher_id and voucher.kind <> 'federated' and 'admin' = any(vouched.scopes)
                  and g.actor_id = given.actor_id and g.scopes && given.scopes;
        end if;
    elsif owns_memory() then
        return query
            select null::integer, s.id, array['read', 'write', 'forget', 'admin', 'metrics'], s.id = (select default_space())
            from space s where s.archived_at is null;
    else
        return query
            select g.actor_id, g.space_id, g.scopes, false
            from actor a join space_grant g on g.actor_id = a.id join space s on s.id = g.space_id
            where a.role_name = session_user and s.archived_at is null;
    end if;
end
$$;

comment on function textrawl.access_rights is
    'What a credential (the SHA-256 of a token) may do now, space by space; without one, what this database session may: everything for the memory''s owner, else what was granted to its login. No row: nothing.';
