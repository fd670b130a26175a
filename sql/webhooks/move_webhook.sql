create function textrawl.move_webhook(space integer, hook uuid, claim uuid, after text, credential bytea)
returns textrawl.webhook
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    moved webhook;
begin
    perform administered_spaces(credential, move_webhook.space);
    perform settle_events(array[move_webhook.space]);
    update webhook w
    set transaction = split_part(after, ':', 1)::xid8, event_id = split_part(after, ':', 2)::bigint,
        delivered_at = clock_timestamp(), failures = 0, failing_since = null
    where w.space_id = move_webhook.space and w.id = hook and w.claim = move_webhook.claim
      and split_part(after, ':', 1)::xid8 < pg_snapshot_xmin(pg_current_snapshot())
      and (split_part(after, ':', 1)::xid8, split_part(after, ':', 2)::bigint) > (w.transaction, w.event_id);
    -- Check the rights again, because a delivery can last long.
    select * into moved from webhook w
    where w.space_id = move_webhook.space and w.id = hook and w.claim = move_webhook.claim
      and may_add_webhook(w.actor_id, w.space_id, w.content)
      and (not w.content or may_read(credential, w.space_id)) for update;
    return moved;
end
$$;

comment on function textrawl.move_webhook is
    'Move a webhook behind the event (transaction:id) that was delivered last, and return it. Null is returned if another '
    'server has claimed it meanwhile, or if the author or the server has lost the right to it. A webhook '
    'never moves back. Errors: TR010, TR011 (access).';
