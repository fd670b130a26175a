create function textrawl.claim_webhooks(
    claim uuid, hosts text[], max_rows integer, space integer default null, credential bytea default null
) returns table (space_id integer, id uuid, url text, host text, secret bytea)
language sql volatile security definer
set search_path from current
begin atomic
    select textrawl.settle_events(textrawl.administered_spaces(credential, claim_webhooks.space));
    update textrawl.webhook w
    set claim = claim_webhooks.claim, session = pg_backend_pid(), claimed_until = clock_timestamp() + interval '1 minute'
    from (
        select due.space_id, due.id from textrawl.webhook due
        where due.space_id = any((select textrawl.administered_spaces(credential, claim_webhooks.space))::integer[])
          and due.host = any(hosts) and due.paused_at is null and due.next_try_at <= clock_timestamp()
          -- A claim is a row and not an advisory lock: every login could take such a lock. A row lock would need a
          -- transaction that is open while a receiver answers, and no follower of the trail would see newer events. The
          -- database session of a killed server ends at once, so nobody waits for the end of its minute.
          and (due.claimed_until is null or due.claimed_until < clock_timestamp()
               or not exists (select from pg_stat_activity p where p.pid = due.session))
          and textrawl.may_add_webhook(due.actor_id, due.space_id, due.content)
          and (not due.content or textrawl.may_read(credential, due.space_id))
          and exists (select from textrawl.event v
                      where v.space_id = due.space_id and v.transaction < pg_snapshot_xmin(pg_current_snapshot())
                        and (v.transaction, v.id) > (due.transaction, due.event_id))
        order by due.next_try_at, due.id
        limit max_rows for update skip locked) due
    where w.space_id = due.space_id and w.id = due.id
    returning w.space_id, w.id, w.url, w.host, w.secret;
end;

comment on function textrawl.claim_webhooks is
    'Claim webhooks that have events to deliver, for one server: the webhooks of spaces that the credential administers, '
    'to the given hosts (host:port). A claim lasts a minute, and next_webhook_events() renews it. Errors: TR010, TR011 '
    '(access).';
