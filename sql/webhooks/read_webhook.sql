create function textrawl.read_webhook(space integer, hook uuid, credential bytea default null)
returns table (space_id integer, id uuid, url text, host text, secret bytea)
language plpgsql volatile security definer
set search_path from current
as $$
declare
    chosen webhook := require_webhook(read_webhook.space, hook, credential);
begin
    return query select chosen.space_id, chosen.id, chosen.url, chosen.host, chosen.secret;
end
$$;

comment on function textrawl.read_webhook is
    'The address and the secret of a webhook, for a test message. Errors: TR010, TR011 (access), TR102 (no such webhook).';
