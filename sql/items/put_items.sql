create function textrawl.put_items(
    items json,                   -- up to 100 {namespace, key, value, metadata, ttl, index, version}; ttl is in seconds
    deletions json default '[]',  -- up to 100 {namespace, key, version} to delete; version null: any
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
)
returns table (
    place bigint,  -- of the item in `items`, from 1; the other columns are those of put_item()
    space_id integer, document_id uuid, space_name text, version integer, created_at timestamptz, updated_at timestamptz,
    expires_at timestamptz, author text, created boolean, changed boolean, text_id uuid, text text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    ended  uuid[];  -- items to delete
begin
    if json_typeof(items) is distinct from 'array' or json_typeof(deletions) is distinct from 'array'
       or json_array_length(items) > 100 or json_array_length(deletions) > 100 then
        raise exception using errcode = 'TR103', message = 'not a list of up to 100 items', detail = 'more than 100, or no list';
    end if;
    if exists (
        select from (
            select i.namespace, i.key from read_puts(put_items.items) i union all
            select d.namespace, d.key from read_puts(put_items.deletions) d) every
        group by every.key, every.namespace having count(*) > 1) then
        raise exception using errcode = 'TR103', message = 'an item twice', detail = 'the same key twice in one call';
    end if;
    if json_array_length(deletions) > 0 then
        origin := open_write(credential, space, 'forget', client, tool, request);
    end if;
    perform claim_removal();
    -- Every session locks documents in the order of their ids.
    perform from document d
    where d.space_id = origin.space_id and d.id in (
        select p.document_id from placed_items(put_items.items, origin.space_id) p union all
        select p.document_id from placed_items(put_items.deletions, origin.space_id) p)
    order by d.id for update;
    ended := array(select p.document_id from placed_items(put_items.deletions, origin.space_id) p where p.held > 0);
    if exists (
        select from placed_items(put_items.deletions, origin.space_id) p
        where p.wanted <> coalesce(p.held, 0)
          -- A call that is repeated with its request id finds what it deleted.
          and (p.held is distinct from 0 or put_items.request is null
               or (p.author_id, p.request) is distinct from (origin.author_id, put_items.request))) then
        raise exception using errcode = 'TR106', message = 'the item was changed meanwhile';
    end if;
    return query
    select i.place, p.*
    from (select * from read_puts(put_items.items) r order by r.namespace collate "C", r.key collate "C") i
    cross join lateral put_item(
        i.namespace, i.key, i.value, i.metadata, i.ttl, i.index, i.version,
        put_items.credential, put_items.space, put_items.client, put_items.tool, put_items.request) p;
    perform end_items(ended, origin);
end
$$;

comment on function textrawl.put_items is
    'Store and delete up to 100 items each, all of them or none. Errors: those of put_item() and delete_items(), TR103 (a '
    'key twice, or too many), TR106 (an item to delete does not have its version). '
    'Example: select place, version from textrawl.put_items(''[{"namespace": ["users", "ada"], "key": "tea", "value": 1}]'');';
