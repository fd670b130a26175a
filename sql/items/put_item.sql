create function textrawl.put_item(
    namespace text[], key text, value json,
    metadata json default '{}',
    ttl interval default null,      -- null: the item does not expire
    index jsonb default 'true',     -- what search reads: true, false, or paths such as ["title", "tags[*]"]
    known integer default null,     -- the present version has this number; 0: there is no such item; null: any
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out space_id integer, out document_id uuid, out space_name text,
    out version integer,            -- number of the present version
    out created_at timestamptz, out updated_at timestamptz, out expires_at timestamptz, out author text,
    out created boolean,            -- false: the key was there
    out changed boolean,            -- false: the key had this value already
    out text_id uuid, out text text -- the text of which vectors are made, if the value has changed
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin  origin := open_write(credential, space, 'write', client, tool, request);
    place   uuid;
    former  record;
    held    integer;  -- number of the present version, or 0
    given   jsonb := jsonb_strip_nulls(jsonb_build_object(
        'metadata', metadata::text, 'index', index, 'ttl', extract(epoch from ttl)));
begin
    if coalesce(char_length(key), 0) not between 1 and 500 then
        raise exception using errcode = 'TR103', message = 'not a key', detail = left(key, 100);
    elsif value is null or octet_length(value::text) > 1000000 or octet_length(metadata::text) > 100000 then
        raise exception using errcode = 'TR104', message = 'the value is too long',
            detail = greatest(octet_length(value::text), octet_length(metadata::text))::text;
    elsif is_nested_deeply(value::text) or is_nested_deeply(metadata::text) then
        raise exception using errcode = 'TR107', message = 'the value is nested too deeply';
    elsif json_typeof(metadata) is distinct from 'object' or ttl <= interval '0'
          or not coalesce(jsonb_typeof(index) = 'boolean' or jsonb_typeof(index) = 'array' and index = coalesce((
              select jsonb_agg(to_jsonb(p.path)) from jsonb_array_elements_text(index) p (path)), '[]'), false) then
        raise exception using errcode = 'TR103', message = 'not the metadata, time to live or index of an item', detail = left(key, 100);
    end if;
    perform claim_removal();
    space_id := origin.space_id;
    place := claim_namespace(namespace, space_id);
    loop
        select d.id into document_id
        from item i join document d on d.space_id = i.space_id and d.id = i.document_id
        where i.space_id = origin.space_id and i.namespace_id = place and i.key = key for update of d;
        exit when found;
        insert into document as d (space_id, kind, path, changed)
        values (origin.space_id, 'item', item_path(namespace, key, null), 0)
        on conflict do nothing returning d.id into document_id;
        if found then
            insert into item (space_id, document_id, namespace_id, key) values (origin.space_id, document_id, place, key);
            exit;
        end if;
    end loop;
    select coalesce(i.present and is_unexpired(i.expires_at), false) as present, not is_unexpired(i.expires_at) as expired,
        v.content, v.attributes, v.number, v.author_id, v.request, (
            select coalesce(max(w.version), 0) from document_version w
            where w.space_id = i.space_id and w.document_id = i.document_id) as last
    into former
    from item i
    join document d on d.space_id = i.space_id and d.id = i.document_id
    left join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where i.space_id = origin.space_id and i.document_id = put_item.document_id;
    created := not former.present;
    version := former.number;
    changed := not (former.present and former.content = value::text and former.attributes = given);
    held := case when former.present then former.number else 0 end;
    if known <> held then
        -- A call that is repeated with its request id finds what it stored.
        if changed or (former.author_id, former.request) is distinct from (origin.author_id, request) then
            raise exception using errcode = case known when 0 then 'TR105' else 'TR106' end,
                message = 'the item was changed meanwhile', detail = held::text;
        end if;
    elsif changed then
        -- Nobody sees the values of an item that has expired, so a new one begins without them.
        if former.expired then
            delete from document_version v where v.space_id = origin.space_id and v.document_id = put_item.document_id;
            update item i set present = false, created_at = null, updated_at = null, expires_at = null
            where i.space_id = origin.space_id and i.document_id = put_item.document_id;
        end if;
        version := add_version(document_id, former.last + 1, value::text, given, clock_timestamp(), null, origin);
        select p.text_id, p.text into text_id, text from place_item(document_id, space_id) p;
    elsif ttl is not null then
        update item i set expires_at = clock_timestamp() + ttl
        where i.space_id = origin.space_id and i.document_id = put_item.document_id;
    end if;
    select s.name, i.created_at, i.updated_at, i.expires_at, a.name
    into space_name, created_at, updated_at, expires_at, author
    from item i
    join document d on d.space_id = i.space_id and d.id = i.document_id
    join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    join actor a on a.id = v.author_id
    join space s on s.id = i.space_id
    where i.space_id = origin.space_id and i.document_id = put_item.document_id;
end
$$;

comment on function textrawl.put_item is
    'Store a value under a namespace and a key, and keep the former value for item_history(). The same value again '
    'changes nothing, but its time to live begins again. Errors: TR010 to TR012 (access), TR103 (not a namespace, key, '
    'metadata, time to live or index), TR104 (more than 1,000,000 bytes, or metadata of more than 100,000), TR105 (the key is '
    'there), TR106 (the present version is not `known`), TR107 (more than 190 levels). '
    'Example: select version from textrawl.put_item(array[''users'', ''ada''], ''tea'', ''{"kind": "green"}'');';
