create function textrawl.next_webhook_events(
    space integer, hook uuid, claim uuid, after text default null, max_rows integer default 100,
    credential bytea default null
) returns table (
    cursor text,  -- `after` of the next call, once the message is delivered
    body text     -- null in the last row if its event is not for this webhook
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    moved webhook := move_webhook(next_webhook_events.space, hook, next_webhook_events.claim, after, credential);
begin
    if moved.id is null then
        return;
    end if;
    return query
        select p.transaction || ':' || p.id, case when p.wanted then webhook_body(p.happened, moved.content) end
        from (
            select e.*, coalesce(webhook_kind((e.happened).action) = any(moved.events), false) as wanted,
                row_number() over (order by e.transaction desc, e.id desc) = 1 as last
            from (
                select v.transaction, v.id, v as happened from event v
                where v.space_id = moved.space_id and v.transaction < pg_snapshot_xmin(pg_current_snapshot())
                  and (v.transaction, v.id) > (moved.transaction, moved.event_id)
                order by v.transaction, v.id limit max_rows) e) p
        where p.wanted or p.last
        order by p.transaction, p.id;
    -- Without events the claim ends, so that any server can deliver the next ones.
    update webhook w set claimed_until = case when found then clock_timestamp() + interval '1 minute' end
    where w.space_id = moved.space_id and w.id = moved.id;
end
$$;

comment on function textrawl.next_webhook_events is
    'Record the last delivered event of a webhook (null: none yet), renew the claim, and return the next messages in the '
    'order of read_events(). No rows: nothing is left, or another server has the webhook. Errors: TR010, TR011 (access).';
