create function textrawl.vouch(
    credential bytea, bearer bytea, actor text, scopes text[], expires_at timestamptz
) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    voucher integer;
begin
    select t.id into voucher from token t
    where t.hash = credential and t.kind <> 'federated'
      and exists (select from access_rights(credential) r where 'admin' = any(r.scopes));
    if voucher is null then
        perform refuse_access(credential, 'admin');
    end if;
    -- Another server may be at it.
    delete from token t where t.id in (
        select old.id from token old
        where old.kind = 'federated' and old.expires_at < now() - interval '1 day' for update skip locked);
    insert into token as t (hash, kind, actor_id, scopes, voucher_id, expires_at)
    select bearer, 'federated', a.id, vouch.scopes, voucher, vouch.expires_at
    from actor a
    where a.name = vouch.actor and exists (select from space_grant g where g.actor_id = a.id)
    -- The server's own token may have been rotated since: the former one ends, and what it vouched for.
    on conflict (hash) do update set voucher_id = excluded.voucher_id
    where t.kind = 'federated' and t.revoked_at is null;
    return exists (select from token t where t.hash = bearer and t.kind = 'federated' and t.revoked_at is null);
end
$$;

comment on function textrawl.vouch is
    'Accepts a token of an identity provider, by its SHA-256, on the word of a server whose credential has the scope admin; false where nothing was granted to the actor. Errors: TR010, TR011.';
