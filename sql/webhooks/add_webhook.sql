create function textrawl.add_webhook(
    name text,  -- of the space
    url text,
    events text[] default array['stored', 'proposed', 'decided', 'forgotten', 'undone'],
    content boolean default false, credential bytea default null
) returns table (
    id uuid,
    secret text  -- nobody sees it again
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    place integer := find_space(add_webhook.name);
    parts text[] := regexp_match(add_webhook.url,
        '^(https?)://([a-z0-9][a-z0-9.-]*|\[[0-9a-f:.]+\])(:([1-9][0-9]{0,4}))?(/[-a-z0-9._~!$&''()*+,;=:@%/?]*)?$', 'i');
    origin text := lower(parts[1]) || '://' || lower(parts[2]) || coalesce(parts[3], '');
    port   integer := coalesce(parts[4]::integer, case lower(parts[1]) when 'https' then 443 else 80 end);
begin
    perform require_admin(credential, place);
    if content and not may_read(credential, place) then
        perform refuse_access(credential, 'read');
    end if;
    if parts is null or port > 65535 or char_length(add_webhook.url) >= 2000
       or lower(parts[1]) = 'http' and lower(parts[2]) not in ('localhost', '127.0.0.1', '[::1]') then
        raise exception using errcode = 'TR099', message = 'not an address for a webhook';
    end if;
    if coalesce(cardinality(add_webhook.events), 0) = 0
       or not add_webhook.events <@ array['stored', 'proposed', 'decided', 'forgotten', 'undone'] then
        raise exception using errcode = 'TR100', message = 'wrong kinds of events';
    end if;
    if (select count(*) >= 20 from webhook w where w.space_id = place) then
        raise exception using errcode = 'TR101', message = 'the space has 20 webhooks';
    end if;
    perform settle_events(array[place]);
    return query
        insert into webhook as w (space_id, url, host, events, content, secret, actor_id, transaction, event_id)
        -- Start at the last event of a transaction below xmin. All events that are added later come after it.
        select place, origin || coalesce(parts[5], '/'), lower(parts[2]) || ':' || port,
            array(select distinct k from unnest(add_webhook.events) k order by 1), add_webhook.content,
            sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
            case when not owns_memory() then (select r.actor_id from access_rights(credential) r where r.space_id = place) end,
            coalesce(newest.transaction, '0'), coalesce(newest.id, 0)
        from (values (1)) one
        left join lateral (
            select v.transaction, v.id from event v
            where v.space_id = place and v.transaction < pg_snapshot_xmin(pg_current_snapshot())
            order by v.transaction desc, v.id desc limit 1) newest on true
        returning w.id, 'whsec_' || encode(w.secret, 'base64');
end
$$;

comment on function textrawl.add_webhook is
    'Add an address to which servers post the later events of a space: all kinds of events, or only some (see '
    'webhook_kind). With content, the texts are posted too; this needs the scope read. http is only for this machine. '
    'Return the secret that signs the messages. Errors: TR010, TR011 (access), TR020 (no such space), TR099 (wrong '
    'address), TR100 (wrong kinds), TR101 (20 webhooks). '
    'Example: select * from textrawl.add_webhook(name => ''default'', url => ''https://hooks.example.com/memory'');';
