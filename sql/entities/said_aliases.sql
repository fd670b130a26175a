create function textrawl.said_aliases(spaces integer[], content text)
returns table (space_id integer, entity_id uuid, name text)
language sql stable
begin atomic
    select a.space_id, a.entity_id, a.name
    from (select textrawl.name_key(content) as said offset 0) folded
    join textrawl.entity_alias a on strpos(folded.said, a.name_key) > 0
    where a.space_id = any(spaces) and a.removed_at is null;
end;

comment on function textrawl.said_aliases is
    'The aliases that a text has. Example: select name from textrawl.said_aliases(array[1], ''met zozo in Riga'');';
