create function textrawl.push_change(
    change jsonb, instance text, instance_type text, since bigint, origin textrawl.origin, moment timestamptz,
    out path text,
    out outcome text,       -- stored, unchanged, lost (the stored text stays current) or erased (the document stays deleted)
    out rival text,         -- instance or person that changed the document meanwhile; null: no conflict
    out change_number bigint, out document uuid
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    home     integer := origin.space_id;
    key      record;
    stored   document_version;
    erased   document_tombstone;
    texts    jsonb;
    changed_at timestamptz := least(coalesce((change ->> 'modified_at')::timestamptz, moment), moment);
    conflict boolean;
    wins     boolean := true;
begin
    select k.* into key from document_key(change) k;
    path := key.path; outcome := 'unchanged';
    if key.kind = 'journal' and char_length(change ->> 'content') not between 1 and 200000 then
        raise exception using errcode = 'TR057', message = 'the text has a wrong length',
            detail = char_length(change ->> 'content');
    elsif char_length(change ->> 'content') > 1000000 then
        raise exception using errcode = 'TR092', message = 'the text is too long', detail = path;
    end if;
    select t.* into erased from document_tombstone t where t.space_id = home and t.kind = key.kind and t.path = key.path;
    if found and erased.changed > since and changed_at <= erased.deleted_at then
        -- An older copy must not bring back a document that was deleted for good.
        outcome := 'erased'; rival := ''; change_number := erased.changed;
        return;
    end if;
    select v.* into stored
    from document d join document_version v on v.space_id = home and v.document_id = d.id and v.version = d.version
    where d.space_id = home and d.kind = key.kind and d.path = key.path;
    -- If the change does not give an attribute, the stored one stays.
    texts := coalesce(stored.attributes, '{}') || case
        when key.kind = 'identity' then jsonb_strip_nulls(jsonb_build_object('label', change ->> 'label'))
        else jsonb_build_object(
            'instance', coalesce(stored.attributes ->> 'instance', change ->> 'instance', instance),
            'chat_ids', coalesce(change -> 'chat_ids', stored.attributes -> 'chat_ids', '[]'),
            'participants', coalesce(change -> 'participants', stored.attributes -> 'participants',
                                     jsonb_build_array(coalesce(change ->> 'instance', instance)))) end;
    if stored.content is not distinct from change ->> 'content'
       and (stored.attributes is not distinct from texts or change ->> 'content' is null) then
        return;
    end if;
    conflict := stored.version > since and stored.modified_by is distinct from instance;
    if conflict then
        rival := coalesce(stored.modified_by, '');
        -- A time that is still to come says nothing: the clock was set back since. Then the change that comes later wins.
        wins := stored.modified_at > moment or (changed_at, instance_priority(instance_type)) >= (stored.modified_at, instance_priority(
            (select i.instance_type from instance i where i.space_id = home and i.id = stored.modified_by)));
    end if;
    select c.id, c.version into document, change_number from claim_document(key.kind, key.path, key.entity, origin) c;
    if key.kind = 'journal' then
        insert into journal_entry (space_id, document_id, granularity, date, period, instance_id, slug)
        values (home, document, change ->> 'granularity', change ->> 'date', key.period,
                coalesce(change ->> 'instance', instance), change ->> 'slug')
        on conflict do nothing;
    elsif wins then
        perform keep_snapshot(document, 'pre-replace', instance, false, moment, origin);
    end if;
    perform add_version(document, change_number, change ->> 'content', texts, changed_at,
                        instance, origin, not wins);
    if wins then
        perform place_parts(document, origin);
    end if;
    outcome := case when wins then 'stored' else 'lost' end;
end
$$;

comment on function textrawl.push_change is
    'Store one change of an instance. If another instance changed the document meanwhile, the later change becomes the '
    'current version, and the other text is kept as a version. push_changes() has locked the entities.';
