create function textrawl.default_space() returns integer
language sql stable parallel safe security definer
set search_path from current
begin atomic
    select id from textrawl.space order by id limit 1;
end;

comment on function textrawl.default_space is
    'The id of the first space, which exists from the start. '
    'Example: select textrawl.default_space();';
