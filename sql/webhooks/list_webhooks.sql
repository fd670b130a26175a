create function textrawl.list_webhooks(space integer default null, credential bytea default null)
returns table (
    space_id integer, id uuid, space_name text, url text, host text, events text[], content boolean,
    author_name text,       -- null for the owner
    created_at timestamptz,
    state text,             -- active, retrying, paused or not allowed
    queue bigint,           -- events to deliver; at most 100,000 are counted
    oldest_at timestamptz,  -- time of the first of them
    delivered_at timestamptz, failures integer, last_error text, next_try_at timestamptz, paused_at timestamptz
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces integer[] := administered_spaces(credential, list_webhooks.space);
begin
    return query
        select w.space_id, w.id, s.name, w.url, w.host, w.events, w.content, a.name, w.created_at,
            case when w.paused_at is not null then 'paused'
                 when not may_add_webhook(w.actor_id, w.space_id, w.content) then 'not allowed'
                 when w.failures > 0 then 'retrying' else 'active' end,
            waiting.queue, waiting.oldest_at, w.delivered_at, w.failures, w.last_error, w.next_try_at, w.paused_at
        from webhook w
        join space s on s.id = w.space_id
        left join actor a on a.id = w.actor_id
        cross join lateral (
            select count(*) as queue, min(q.at) as oldest_at from (
                select v.at from event v
                where v.space_id = w.space_id and (v.transaction, v.id) > (w.transaction, w.event_id)
                  and webhook_kind(v.action) = any(w.events)
                limit 100000) q) waiting
        where w.space_id = any(spaces)
        order by s.name, w.created_at, w.id;
end
$$;

comment on function textrawl.list_webhooks is
    'The webhooks of the spaces that the caller administers, with the state of each, and without the secret. '
    'Errors: TR010, TR011 (access). '
    'Example: select url, state, queue, last_error from textrawl.list_webhooks();';
