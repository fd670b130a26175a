create function textrawl.remove_webhook(space integer, hook uuid, credential bytea default null) returns text
language plpgsql volatile security definer
set search_path from current
as $$
declare
    removed webhook := require_webhook(remove_webhook.space, hook, credential);
begin
    delete from webhook w where w.space_id = removed.space_id and w.id = removed.id;
    return removed.url;
end
$$;

comment on function textrawl.remove_webhook is
    'Remove a webhook and return its address. Errors: TR010, TR011 (access), TR102 (no such webhook).';
