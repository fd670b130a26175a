create function textrawl.access_rights(credential bytea default null)
returns table (
    actor_id integer,  -- null for the owner of the memory
    space_id integer, scopes text[],
    home boolean       -- true for the home space of the credential
)
language plpgsql stable parallel safe security definer rows 2
set search_path from current
as $$
#variable_conflict use_column
declare
    found_token token;
    -- The person whose statement read_rows() runs: the credential, and the spaces of the visit.
    reader text[] := string_to_array(nullif(current_setting('textrawl.reader', true), ''), ' ');
begin
    if credential is null and reader is not null then
        return query
            select r.actor_id, r.space_id, array(select unnest(r.scopes) intersect select unnest(array['read', 'review'])), r.home
            from access_rights(decode(reader[1], 'hex')) r where r.space_id = any(reader[2]::integer[]);
    elsif credential is not null then
        select * into found_token from token t
        where t.hash = credential and is_live_token(t.revoked_at, t.expires_at);
        if found_token.kind = 'local' then
            -- A local token belongs to the person who owns this machine and its memory. The token has its scopes in
            -- every space.
            return query
                select found_token.actor_id, s.id, found_token.scopes, s.id = found_token.home_space_id
                from space s where s.archived_at is null;
        elsif found_token.kind = 'bearer' then
            return query
                select found_token.actor_id, g.space_id, review_scopes(held.scopes, s.reviewed),
                    g.space_id is not distinct from found_token.home_space_id
                from space_grant g join space s on s.id = g.space_id
                cross join lateral (
                    select case when g.scopes <@ found_token.scopes then g.scopes
                        else array(select unnest(g.scopes) intersect select unnest(found_token.scopes)) end as scopes offset 0) held
                where g.actor_id = found_token.actor_id and s.archived_at is null and g.scopes && found_token.scopes;
        elsif found_token.kind = 'federated' then
            return query
                select found_token.actor_id, g.space_id, review_scopes(held.scopes, s.reviewed), false
                from token voucher
                cross join access_rights(voucher.hash) vouched
                join space_grant g on g.space_id = vouched.space_id
                join space s on s.id = g.space_id
                cross join lateral (
                    select case when g.scopes <@ found_token.scopes then g.scopes
                        else array(select unnest(g.scopes) intersect select unnest(found_token.scopes)) end as scopes offset 0) held
                where voucher.id = found_token.voucher_id and voucher.kind <> 'federated' and 'admin' = any(vouched.scopes)
                  and g.actor_id = found_token.actor_id and g.scopes && found_token.scopes;
        end if;
    elsif owns_memory() then
        return query
            select null::integer, s.id, array['read', 'propose', 'write', 'forget', 'review', 'admin', 'metrics'], s.id = (select default_space())
            from space s where s.archived_at is null;
    else
        return query
            select g.actor_id, g.space_id, review_scopes(g.scopes, s.reviewed), false
            from actor a join space_grant g on g.actor_id = a.id join space s on s.id = g.space_id
            where a.role_name = session_user and s.archived_at is null;
    end if;
end
$$;

comment on function textrawl.access_rights is
    'The rights of a credential (the SHA-256 of a token), one row for each space. No row means no right. Without a '
    'credential: the rights of this database session. A superuser and a login with the owner role have all rights. Any '
    'other login has the rights of its actor. In a reviewed space, a caller with write but without review can only propose. '
    'The setting textrawl.reader makes the rights of a session those of a credential to read in some spaces.';
