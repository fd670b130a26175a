create function textrawl.item_fields(content text, attributes jsonb) returns jsonb
language sql immutable parallel safe
begin atomic
    -- jsonb cannot hold U+0000. The escape counts only after an even number of backslashes.
    select jsonb_build_object(
        'value', regexp_replace(content, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::jsonb,
        'metadata', regexp_replace(attributes ->> 'metadata', '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::jsonb);
end;

comment on function textrawl.item_fields is
    'The value and the metadata of an item for filters, with U+FFFD in place of U+0000. '
    'Example: select textrawl.item_fields(''{"a":1}'', ''{"metadata":"{}"}'');';
