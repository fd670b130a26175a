create function textrawl.default_space() returns integer
language sql stable parallel safe security definer
set search_path from current
begin atomic
    select id from textrawl.space where name = 'default';
end;

comment on function textrawl.default_space is
    'The space that everything belongs to until tokens name others. Example: select textrawl.default_space();';
