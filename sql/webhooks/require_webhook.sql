create function textrawl.require_webhook(space integer, hook uuid, credential bytea) returns textrawl.webhook
language plpgsql volatile
set search_path from current
as $$
declare
    found_hook webhook;
begin
    perform administered_spaces(credential, require_webhook.space);
    select * into found_hook from webhook w where w.space_id = require_webhook.space and w.id = hook for update;
    if found_hook.id is null then
        raise exception using errcode = 'TR102', message = 'no such webhook', detail = coalesce(hook::text, '');
    end if;
    return found_hook;
end
$$;

comment on function textrawl.require_webhook is
    'A webhook of a space that a credential administers, locked until the end of the transaction. Errors: TR010, TR011 '
    '(access), TR102 (no such webhook).';
