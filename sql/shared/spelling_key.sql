create function textrawl.spelling_key(content text) returns text
language sql immutable strict parallel safe
begin atomic
    select regexp_replace(textrawl.name_key(content), '(?<=[^\s./\\…])[.…。．｡।॥۔።։។။]+$', '');
end;

comment on function textrawl.spelling_key is
    'A text without differences of case and white space, and without final full stops. Facts with one spelling_key() can '
    'differ in meaning, such as two flags of a program. '
    'Example: select textrawl.spelling_key(''The flag is  -N.'');';
