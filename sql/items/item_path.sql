create function textrawl.item_path(labels text[], key text, place bigint) returns text
language sql immutable parallel safe
begin atomic
    -- The end of a long path is its hash, so that different items have different paths.
    select case when char_length(whole) <= 300 then whole
        else left(whole, 230) || '… ' || encode(sha256(convert_to(whole, 'UTF8')), 'hex') end
    from (select to_json(labels || case when key is null then '{}' else array[key] end)::text || coalesce('#' || place, '') as whole) p;
end;

comment on function textrawl.item_path is
    'The path of the document of an item, or of the entry of a log at a place: its namespace and key as JSON, at most 300 characters. '
    'Example: select textrawl.item_path(array[''users'', ''ada''], ''tea'', null);';
