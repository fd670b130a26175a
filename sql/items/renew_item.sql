create function textrawl.renew_item(
    namespace text[], key text, credential bytea default null, space integer default null
) returns timestamptz
language sql volatile security definer
set search_path from current
begin atomic
    update textrawl.item i
    set expires_at = clock_timestamp() + make_interval(secs => (v.attributes ->> 'ttl')::double precision)
    from textrawl.item_namespace n, textrawl.document d, textrawl.document_version v, textrawl.access_rights(credential) r
    where n.space_id = (select textrawl.graph_space(credential, space)) and n.labels = renew_item.namespace
      and i.space_id = n.space_id and i.namespace_id = n.id and i.key = renew_item.key
      and i.present and i.expires_at > now()
      and d.space_id = i.space_id and d.id = i.document_id
      and v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
      and r.space_id = n.space_id and 'write' = any(r.scopes)
    returning i.expires_at;
end;

comment on function textrawl.renew_item is
    'Let the time to live of an item begin again, and return its new end. Null if there is no such item, if it does not expire, or if the '
    'caller cannot write. Errors: TR010, TR011 (access). '
    'Example: select textrawl.renew_item(array[''users'', ''ada''], ''tea'');';
