create function textrawl.vouch(
    credential bytea, bearer bytea, actor text, scopes text[], expires_at timestamptz, issuer text
) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    voucher token;
begin
    select * into voucher from token t
    where t.hash = credential and t.kind <> 'federated'
      and exists (select from access_rights(credential) r where 'admin' = any(r.scopes));
    if voucher.id is null then
        perform refuse_access(credential, 'admin');
    elsif voucher.issuer is null or voucher.issuer is distinct from vouch.issuer then
        raise exception using errcode = 'TR014', message = 'this token cannot accept logins of that issuer',
            detail = coalesce(vouch.issuer, '');
    end if;
    -- Skip rows that another server is deleting.
    delete from token t where t.id in (
        select old.id from token old
        where old.kind = 'federated' and old.expires_at < now() - interval '1 day' for update skip locked);
    insert into token as t (hash, kind, actor_id, scopes, voucher_id, expires_at)
    select bearer, 'federated', a.id, vouch.scopes, voucher.id,
        -- A server that sees the token after this time verifies it again and calls this function again.
        least(vouch.expires_at, clock_timestamp() + interval '1 hour')
    from actor a
    where a.name = vouch.actor and exists (select from space_grant g where g.actor_id = a.id)
    -- If the server's own token was rotated, its former token expires. All tokens with this voucher then become
    -- invalid too. So record the server's new token as the voucher.
    on conflict (hash) do update
    set actor_id = excluded.actor_id, scopes = excluded.scopes,
        voucher_id = excluded.voucher_id, expires_at = excluded.expires_at
    where t.kind = 'federated' and t.revoked_at is null;
    return exists (
        select from token t join actor a on a.id = t.actor_id
        where t.hash = bearer and t.kind = 'federated' and t.revoked_at is null and a.name = vouch.actor);
end
$$;

comment on function textrawl.vouch is
    'Accept a token of an identity provider, given by its SHA-256, for at most an hour. The credential of the calling '
    'server must have the scope admin and this issuer. Return false if the actor has no grant. Errors: TR010, TR011 '
    '(access), TR014 (the credential has another issuer or no issuer).';
