create function textrawl.split_threshold(type text) returns integer
language sql immutable parallel safe
begin atomic
    select case when word in ('sesion', 'session') then 15 when word in ('proyecto', 'project') then 25 else 20 end
    from (select lower(textrawl.plain_text(coalesce(type, ''))) as word) as plain;
end;

comment on function textrawl.split_threshold is
    'The number of facts above which an entity of a type should be split. '
    'Example: select textrawl.split_threshold(''Sesión'');';
