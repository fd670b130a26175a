create function textrawl.fail_webhook(
    space integer, hook uuid, claim uuid, error text, after text default null,
    wait integer default 0,          -- seconds that the receiver asks for
    gone boolean default false,      -- the receiver wants no more messages
    credential bytea default null
) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    moved  webhook := move_webhook(fail_webhook.space, hook, fail_webhook.claim, after, credential);
    moment timestamptz := clock_timestamp();
begin
    -- One second, then twice as long each time, up to an hour. After five days of faults somebody has to look.
    update webhook w
    set failures = w.failures + 1, failing_since = coalesce(w.failing_since, moment), last_error = left(fail_webhook.error, 200),
        next_try_at = moment + make_interval(secs => least(3600, greatest(wait, 2 ^ least(w.failures, 12)))),
        paused_at = case when gone or w.failing_since < moment - interval '5 days' then moment end, claimed_until = null
    where w.space_id = moved.space_id and w.id = moved.id;
    return moved.id is not null and (select w.paused_at is not null from webhook w
                                     where w.space_id = moved.space_id and w.id = moved.id);
end
$$;

comment on function textrawl.fail_webhook is
    'Record that a message could not be delivered, and end the claim. The next attempt is after 1, 2, 4 … seconds, or '
    'when the receiver asks for it, but at most an hour later. After five days of faults the webhook is paused. Return '
    'true if it is paused. Errors: TR010, TR011 (access).';
