create function textrawl.append_log(
    namespace text[],
    entries json,  -- a list of values
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out length bigint  -- number of entries of the log then
)
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    place  uuid;
    last   bigint;
    added  integer;
    known  boolean;
    moment timestamptz;  -- one for all entries of a call
begin
    if json_typeof(entries) is distinct from 'array' then
        raise exception using errcode = 'TR103', message = 'not a list', detail = json_typeof(entries);
    end if;
    added := json_array_length(entries);
    if exists (select from json_array_elements(entries) e (value) where octet_length(e.value::text) > 1000000) then
        raise exception using errcode = 'TR104', message = 'the value is too long',
            detail = (select max(octet_length(e.value::text)) from json_array_elements(entries) e (value))::text;
    elsif is_nested_deeply(entries::text) then
        raise exception using errcode = 'TR107', message = 'the value is nested too deeply';
    end if;
    perform claim_removal();
    place := claim_namespace(namespace, origin.space_id, appending => true);
    last := (select n.appended from item_namespace n where n.space_id = origin.space_id and n.id = place);
    -- A call that is repeated with its request id finds what it stored. A proxy can give several calls one id.
    known := exists (
        select from item i join document_version v on v.space_id = i.space_id and v.document_id = i.document_id
        where i.space_id = origin.space_id and i.namespace_id = place and i.position > last - 1000 - added
          and v.number = 1 and v.request = append_log.request and v.author_id = origin.author_id
        group by v.modified_at
        having array_agg(v.content order by i.position) = array(
            select e.value::text from json_array_elements(entries) with ordinality e (value, number) order by e.number));
    moment := clock_timestamp();
    update item_namespace n set appended = last + added where n.space_id = origin.space_id and n.id = place and not known;
    with entry as materialized (
        select gen_random_uuid() as id, last + e.number as position, e.value::text as content,
            item_path(namespace, null, last + e.number) as path
        from json_array_elements(entries) with ordinality e (value, number)
        where not known
    ), document as (
        insert into document (space_id, id, kind, path, version, changed)
        select origin.space_id, entry.id, 'log', entry.path, 1, 0 from entry
    ), version as (
        insert into document_version (space_id, document_id, version, number, content, modified_at, author_id, client, tool, request)
        select origin.space_id, entry.id, 1, 1, entry.content, moment, origin.author_id, origin.client, origin.tool, origin.request
        from entry
    ), item as (
        insert into item (space_id, document_id, namespace_id, position, present, created_at, updated_at)
        select origin.space_id, entry.id, place, entry.position, true, moment, moment from entry
    )
    insert into event (space_id, actor_id, client, tool, request, action, detail)
    select origin.space_id, origin.author_id, origin.client, origin.tool, origin.request, 'written',
        jsonb_build_object('document', entry.id, 'version', 1, 'kind', 'log', 'path', entry.path)
    from entry order by entry.position;
    length := (select count(*) from item i where i.space_id = origin.space_id and i.namespace_id = place and i.position is not null and i.present);
end
$$;

comment on function textrawl.append_log is
    'Append values to the log of a namespace, all of them or none, in their order. Sessions that append at the same time wait for each '
    'other. The same call with the same request again appends nothing. Errors: TR010 to TR012 (access), TR103 (not a namespace, or not a list), TR104 (a '
    'value has more than 1,000,000 bytes), TR107 (the list has more than 190 levels). '
    'Example: select length from textrawl.append_log(array[''sessions'', ''7''], ''["hello", {"role": "user"}]'');';
