create function textrawl.resume_webhook(space integer, hook uuid, credential bytea default null) returns text
language plpgsql volatile security definer
set search_path from current
as $$
declare
    chosen webhook := require_webhook(resume_webhook.space, hook, credential);
begin
    update webhook w set paused_at = null, failures = 0, failing_since = null, next_try_at = clock_timestamp()
    where w.space_id = chosen.space_id and w.id = chosen.id;
    return chosen.url;
end
$$;

comment on function textrawl.resume_webhook is
    'Let servers post to a paused webhook again, at once, from the first event that was not delivered. Return its '
    'address. Errors: TR010, TR011 (access), TR102 (no such webhook).';
